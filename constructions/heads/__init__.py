"""How heads are chosen for group automata: candidates, their representations, selection, assembly."""
