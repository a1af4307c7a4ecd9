"""Training: from a file of settings to a folder of models, exactly resumable."""
