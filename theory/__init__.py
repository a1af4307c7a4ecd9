"""What is true: arithmetic, running, certificates and their checkers."""
