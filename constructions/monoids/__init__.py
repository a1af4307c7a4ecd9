"""The transition monoid: all of it within a limit, and what is decided without it."""
