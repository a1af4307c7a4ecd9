"""Sweeps: many trainings of one budget, shared by machines, as one table."""
