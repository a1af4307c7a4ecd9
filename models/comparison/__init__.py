"""Learned layers beside constructed ones, and the exact representations nearest to them."""
