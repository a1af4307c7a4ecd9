"""Mutations of decaying numbers: of their checker, and of the search for numbers and its rounding."""

from __future__ import annotations

from .record import Mutation

CHECKER = "theory.checker.decay:"
FORM = "constructions.decays._decay:"
NUMBERS = "tests/constructions/test_decay.py::test_the_numbers_are_those_of_exact_fractions"
IDLE = "tests/constructions/test_decay.py::test_a_letter_that_does_nothing_is_left_out"
MUTATIONS = [
    Mutation(CHECKER + "list_numbers", "elif states[after] != state:", "elif False:", "a number may have two states"),
    Mutation(CHECKER + "list_numbers", "nearest(h + d, precision)", "nearest(h + d, precision + 1)", "one bit more than the format has"),
    Mutation(CHECKER + "list_numbers", "nearest(h + d, precision)", "h + d", "nothing is rounded"),
    Mutation(CHECKER + "list_numbers", "row[states[h]]", "row[machine.start]", "each token begins at the start state"),
    Mutation(CHECKER + "digits_of", "if row != idle and row not in maps:", "if row not in maps:", "letters that do nothing count"),
    Mutation(CHECKER + "check", "base = 1 << even.bit_length()", 'base = document["base"]', "any base will do"),
    Mutation(CHECKER + "check", "need(same(said, digit),", "need(True,", "any digits will do"),
    Mutation(CHECKER + "check", "need(formats, ", "need(True, ", "no format need be right"),
    Mutation(FORM + "_round", "rest == unit and below & unit", "rest == unit", "ties go up", NUMBERS),
    Mutation(FORM + "DecayRNN._list", "_round(h + digit, precision)", "_round(h + digit, precision + 1)", "one bit more than the format has", NUMBERS),
    Mutation(FORM + "DecayRNN.digits", "None if kind < 0 else ", "", "a letter that does nothing has a digit", IDLE),
]  # fmt: skip
