"""Any automaton as a cascade of permutation-reset automata, from its holonomy decomposition (G.T4)."""
