"""Transition monoids: all maps that words induce, and which of their subgroups are solvable."""
