"""From an automaton to an exact linear RNN: automata, formats, algebra, Householder products, constructions."""
