"""Permutation groups: facts, actions on points, abelian groups, finite groups with labels."""
