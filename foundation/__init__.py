"""What every package stands on: errors, files written whole or not at all, text for people."""
