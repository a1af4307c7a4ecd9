"""Claims: their records, evidence and verdicts, and checking them anew."""
