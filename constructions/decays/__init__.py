"""A decaying number that holds the last letters in a float format."""
