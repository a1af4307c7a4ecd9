"""Mutations of impossibility: the model `cast`, orbits, and the words that are confused, in the library and in the checker."""

from __future__ import annotations

from .record import Mutation

FOLDER, CHECKER = "theory.impossibility.", "theory.checker."
MODEL, LAYERS = FOLDER + "cast_model:", FOLDER + "cast_layers:"
MUTATIONS = [
    Mutation(
        MODEL + "cast_states",
        "total + fractions(arithmetic.round(added))",
        "total + fractions(added)",
        "terms of B are not cast before they are summed",
    ),
    Mutation(
        MODEL + "cast_states",
        "A @ added, A @ first",
        "A @ added, A @ A @ first",
        "the initial state is multiplied twice a letter",
    ),
    Mutation(
        MODEL + "find_settled_value",
        "(-c if x < 0 and (k - m) % 2 else c)",
        "(-c if x < 0 and k % 2 else c)",
        "the sign of a negative eigenvalue's term ignores its multiplicity",
    ),
    Mutation(
        MODEL + "find_settled_value",
        "abs(lead) - rest - abs(limit) >",
        "abs(lead) + rest + abs(limit) >",
        "a growing term wins before it has outgrown the others",
    ),
    Mutation(
        MODEL + "find_settled_value",
        "if low == high:",
        "if low == middle:",
        "a sequence counts as settled while one side still changes it",
    ),
    Mutation(
        MODEL + "find_settled_value",
        "y * (k + 1) > k + 1 - n",
        "y * (k + 1) > 2 * (k + 1)",
        "a term that still rises counts as falling",
    ),
    Mutation(
        MODEL + "find_settled_value",
        "(-reach, Fraction(0), reach)",
        "(Fraction(0), Fraction(0), Fraction(0))",
        "what still moves is taken for its limit",
    ),
    Mutation(
        MODEL + "odd_float",
        "quotient | (left != 0)",
        "quotient",
        "quotients are cut off, so that ties hide what lies beyond",
    ),
    Mutation(
        MODEL + "largest",
        "max(abs(values.low), abs(values.high))",
        "min(abs(values.low), abs(values.high))",
        "a grid's largest value is that of its smaller side",
        equivalent_because="",
    ),
    Mutation(
        MODEL + "value_at",
        "comb(k, m)",
        "comb(k, m) + 0 * m if m < 2 else comb(k - 1, m)",
        "double multiplicities count too little",
    ),
    Mutation(
        LAYERS + "_entries",
        "-r * w / (p - s), 0, s)",
        "r * w / (p - s), 0, s)",
        "the second eigenvalue's share has the wrong sign",
    ),
    Mutation(
        LAYERS + "_entries",
        "M = _product(layer.T[x], M)",
        "M = _product(M, layer.T[x])",
        "the letters of a cycle are multiplied in the other order",
    ),
    Mutation(
        LAYERS + "follow",
        "cycle[(s + 1 + r) % P]",
        "cycle[(s + r) % P]",
        "what a letter adds is moved on by that letter again",
    ),
    Mutation(
        LAYERS + "_sum_running_lags",
        "(k - 1 - lag) % P",
        "(k - lag) % P",
        "terms of B are attributed to the letter after",
    ),
    Mutation(
        FOLDER + "cast_rotations:turning_period",
        "still = total == 0",
        "still = total >= 0",
        "entries that grow count as standing still",
    ),
    Mutation(
        FOLDER + "orbits:orbit",
        "seen[key], len(seen) - seen[key]",
        "seen[key], len(seen)",
        "the period is counted from the start",
    ),
    Mutation(
        FOLDER + "orbits:orbit",
        "for x in prefix:",
        "for x in prefix[1:]:",
        "the first letter of the prefix is left out",
    ),
    Mutation(
        FOLDER + "words:first_pair",
        "i > 0 or list(prefix[-1:]) == list(loop[-1:])",
        "True",
        "the library ignores that the last letters differ",
    ),
    Mutation(
        FOLDER + "words:NumberedAutomaton.output",
        "self.outputs[letter][before] if",
        "self.outputs[letter][self.delta[letter][before]] if",
        "a Mealy output is that of the state after",
    ),
    Mutation(
        FOLDER + "diagonal_channels:diagonal_channels",
        "arithmetic.add(arithmetic.multiply(a, h), b)\n    after",
        "arithmetic.add(h, b)\n    after",
        "channels are followed without their factor",
    ),
    Mutation(
        CHECKER + "impossible_words:first_pair",
        "i == 0 and prefix[-1:] != loop[-1:]",
        "False",
        "the checker ignores that the last letters differ",
    ),
    Mutation(
        CHECKER + "impossible_words:first_pair",
        "places.setdefault(tuple(frozenset(state.items()) for state in joint), {})",
        "places.setdefault(None, {})",
        "states count as equal that are not",
    ),
    Mutation(
        CHECKER + "impossible_words:first_cast_pair",
        "first.setdefault(tuple(frozenset(state.items()) for state in states[j]), j)",
        "first.setdefault(None, j)",
        "casts count as equal that are not",
    ),
    Mutation(
        CHECKER + "impossible_words:Language.search",
        "self.outputs[x][a] != self.outputs[x][b]",
        "self.outputs[x][row[a]] != self.outputs[x][row[b]]",
        "the checker reads Mealy outputs at the state after",
    ),
    Mutation(
        CHECKER + "impossible:powers",
        "in round_state(added, q).items()",
        "in added.items()",
        "the checker does not cast the terms of B",
    ),
    Mutation(
        CHECKER + "impossible:step_to_copies",
        "need(round_state(head.start, q) == head.start,",
        "need(True,",
        "the start may be no value of the arithmetic",
    ),
    Mutation(
        CHECKER + "impossible:Head.step",
        "unrounded.get((i, j), Fraction(0)) + b",
        "unrounded.get((i, j), Fraction(0)) - b",
        "the checker subtracts B",
    ),
]
