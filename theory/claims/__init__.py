"""What is true, and what is not: one file a claim, each a function `verify` that checks it anew."""
