"""What a model's recurrences can do, by its configuration and by theorem; and what they do on a text, by its weights."""
