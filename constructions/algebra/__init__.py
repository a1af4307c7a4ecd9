"""Exact numbers, matrices and Householder factors, and what is known of an automaton's algebra."""
