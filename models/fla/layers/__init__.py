"""One file for each of FLA's layer types: how its configuration and weights are read as a `Model` and written again."""
