"""Certificates of impossibility, and the theorems behind them on decided instances."""
