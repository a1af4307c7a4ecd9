"""Tasks: words and labels to train and test on, each with its contract."""
