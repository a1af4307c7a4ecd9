"""Anybody's layer as heads with letter matrices and a read-out."""
