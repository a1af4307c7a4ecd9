"""`prove`: equivalence of a model and an automaton on words of every length, by codes or by state search."""
