"""`plan`: all realisations of an automaton, compared, and lower bounds with reasons."""
