"""Finite groups and their actions on points."""
