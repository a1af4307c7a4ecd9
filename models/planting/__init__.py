"""Planting: heads of a construction put into a trained model of text."""
