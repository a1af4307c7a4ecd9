"""Running linear RNNs, exactly or in a float format, and comparing every token with the automaton."""
