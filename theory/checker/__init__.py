"""Stand-alone checkers, one file a kind of certificate, standard library only."""
