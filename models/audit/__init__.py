"""What a model's recurrences can do, by its configuration: ranges of eigenvalues, and what follows from them by theorem."""
