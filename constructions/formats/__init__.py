"""File formats and notations of automata, one file each."""
