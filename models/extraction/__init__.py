"""The automaton of a trained model."""
