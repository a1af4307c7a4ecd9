"""own.chain and own.window: any automaton by chains of sets, computed by a rule of polynomial size instead of tables."""
