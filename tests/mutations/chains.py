"""Mutations of chains of sets: of their checker, of the search for sizes and windows, of the rule, and of the layers that follow it."""

from __future__ import annotations

from .record import Mutation

CHECKER, LISTS, SIZES = "theory.checker.chain:", "theory.checker._chains:", "constructions.chains._sizes:"
RULE, FORM = "constructions.chains._rule:", "constructions.chains._chain:"
STEPPER = "theory.running._chain:ChainStepper."
FACTORS = "tests/constructions/test_chains.py::test_the_factors_follow_the_automaton"
STARTS = "tests/constructions/test_chains.py::test_from_every_state"
MUTATIONS = [
    Mutation(LISTS + "check_window", "length == longest + 1", "length == longest", "windows are a letter too short"),
    Mutation(LISTS + "check_window", "longest = max(longest, path)", "longest = path", "the last way counts, not the longest"),
    Mutation(LISTS + "check_window", "max(level[after], path + 1)", "path + 1", "the last way to a set of the same size counts"),
    Mutation(LISTS + "check_window", "max(below.get(after, 0), path + 1)", "path + 1", "the last way to a smaller set counts"),
    Mutation(LISTS + "check_window", "taken == len(arrows)", "taken >= 0", "sets that come back are not noticed"),
    Mutation(LISTS + "check_window", "len(image) <= size:", "len(image) <= size + 1:", "sets of one state too many are left out"),
    Mutation(LISTS + "check_drops", "count <= sizes[i + 1]", "count <= sizes[i + 1] + 1", "images of one state too many fit"),
    Mutation(LISTS + "check_drops", "count == len(members) or ", "", "permutations have to fit as well"),
    Mutation(LISTS + "check_drops", "sizes[i] - sizes[i + 1] == 1", "sizes[i] - sizes[i + 1] <= 2", "sizes that fall by two are not looked at"),
    Mutation(LISTS + "longer_chains", "filled(image, upper[-1], ", "filled(image, chain[-2], ", "filled up from the old set, not the new one"),
    Mutation(LISTS + "filled", "x for x in within if", "x for x in within[::-1] if", "filled up with the greatest others"),
    Mutation(CHECKER + "check", "[machine.start] if complete else", "[machine.start] if True else", "chains from the start alone are listed"),
    Mutation(CHECKER + "check", "need(sizes[-1] == 1,", "need(True,", "the last set may have several states"),
    Mutation(CHECKER + "check", "need(sizes[0] == n,", "need(True,", "the first set need not be that of all states"),
    Mutation(CHECKER + "check", "need(all(a - b == 1", "need(all(a - b >= 1", "with a window sizes may be left out"),
    Mutation(CHECKER + "check", "if row != list(range(n))]", "]", "letters that move no state are not left out of a window"),
    Mutation(CHECKER + "check", "rows = window + (reads and not look_back)", "rows = window", "the register lacks the letter before the window"),
    Mutation(CHECKER + "check", "size - 1 if bijective or gates else dims[-1]", "size - 1", "the factors of resets are not counted"),
    Mutation(CHECKER + "check", "need(look_back or not gates,", "need(True,", "a gate may erase a second half that is read"),
    Mutation(CHECKER + "check", "second = not look_back and", "second =", "look-back keeps the second half"),
    Mutation(CHECKER + "check", "(reads and not look_back)", "reads", "look-back keeps the row of the letter before"),
    Mutation(CHECKER + "check", "if bijective or gates else", "if bijective else", "a reset by a gate takes a projection for each entry"),
    Mutation(CHECKER + "check", "bound < largest", "bound < largest // 2", "the largest value of a factor is halved"),
    Mutation(CHECKER + "check", "gates and not bijective and bound", "not bijective and bound", "a largest value is counted where no gate is"),
    Mutation(CHECKER + "check", "need(type(look_back) is bool,", "need(True,", "look-back may be a number"),
    Mutation(CHECKER + "check", "not bijective and (mealy or", "not bijective and (", "a Mealy output does not need the letter before the window"),
    Mutation(CHECKER + "check", "need(reads or not look_back,", "need(True,", "look-back may be claimed where nothing is read"),
    Mutation(SIZES + "find_windows", "found.append(Window(size - 1, longest + 1))", "found.append(Window(size - 1, longest))", "windows are a letter too short"),
    Mutation(SIZES + "plan_sizes", "max(ranks - {sizes[-1]}, default=1)", "min(ranks - {sizes[-1]}, default=1)", "the least image fits, not the largest"),
    Mutation(SIZES + "start_chain", "pad_set({start}, ", "pad_set({0}, ", "chains begin around the first state"),
    Mutation(RULE + "level_letters", "missing <= (size", "missing < (size", "sets are filled up with one member too few"),
    Mutation(RULE + "level_letters", "hit | (missing", "(missing", "the image is left out of a reset's set"),
    Mutation(RULE + "level_letters", "place[rows, new] =", "place[rows, old] =", "places among the old set are taken for those in the new one"),
    Mutation(RULE + "level_letters", "count == real.sum(axis=1)", "count == p", "phantoms count as states that are merged", equivalent_because="while a set has phantoms, its last one is left out of the next set, so that a reset gives the same set as the permutation"),
    Mutation(RULE + "split_permutations", "turned(-rank), turned(1 - rank)", "turned(1 - rank), turned(-rank)", "the two rounds of swaps change places"),
    Mutation(FORM + "ChainRNN.bits", "np.cumsum(first)[self.like]", "np.cumsum(first)[self.like] - 1", "the first letter is written as none"),
    Mutation(FORM + "ChainRNN.window_states", "in seen.T[::-1]:", "in seen.T:", "the newest letter acts first"),
    Mutation(FORM + "ChainRNN.level_transition", "range(p, 2 * p) if both", "range(p) if both", "a reset erases u in place of v", FACTORS),
    Mutation(FORM + "ChainRNN.level_transition", "additive=written", "additive=()", "a reset writes nothing", FACTORS),
    Mutation(FORM + "ChainRNN.register_transition", "(gh_factor(1, {self.rows - 1: 1}), *turn)", "tuple(turn)", "the oldest letter is not erased", FACTORS),
    Mutation(FORM + "ChainRNN.register_transition", "in reversed(range(self.rows - 1))]", "in range(self.rows - 1)]", "the swaps of the register are in another order", FACTORS),
    Mutation(FORM + "ChainRNN.register_transition", "((0, int(b), 1)", "((self.rows - 1, int(b), 1)", "bits are written into the last row", FACTORS),
    Mutation(FORM + "ChainRNN.require_start", "all(step == 1 for step in steps)", "True", "planned sizes are taken to hold from every state", STARTS),
    Mutation(STEPPER + "shift", "H[:, -1] -= H[:, -1]", "pass", "the oldest letter is not erased"),
    Mutation(STEPPER + "shift", "reversed(range(H.shape[1] - 1))", "range(H.shape[1] - 1)", "the swaps of the register are in another order"),
    Mutation(STEPPER + "top_sets", "letters[:, 1:], letters[:, :-1]", "letters[:, :-1], letters[:, :-1]", "the set after the token is taken for that before it"),
    Mutation(FORM + "ChainRNN.__post_init__", "self.gated and not self.look_back", "False", "gates without look-back are built", "tests/constructions/test_chains.py::test_gates_need_look_back"),
    Mutation(FORM + "write_exponent", "(members - 1).bit_length()", "members.bit_length()", "the power of two is twice as large as needed", FACTORS),
    Mutation(FORM + "write_set", "), 0, tuple(", "), 1, tuple(", "a reset has no gate", FACTORS),
    Mutation(STEPPER + "top_sets", "before = self.letter_of[code]", "before = letters", "with look-back the register after the token is read"),
    Mutation(STEPPER + "read_level", "back = before == 1", "back = after", "with look-back the state after the token is read"),
    Mutation("theory.running._chain:Factors.apply", "H *= 1 - self.beta", "pass", "the gate of a reset is left out"),
    Mutation(STEPPER + "read_level", "back, H[:, p:] == 1)", "back, after)", "after a reset the new set is taken for the old one"),
    Mutation(STEPPER + "read_level", "np.take_along_axis(after, acts.images, axis=1)", "after", "the old set is not read back through the permutation"),
    Mutation("theory.running._chain:Factors.apply", "v -= self.beta * v", "pass", "a reset does not erase v"),
    Mutation("theory.running._chain:Factors.apply", "u += self.written\n", "u -= self.written\n", "a reset subtracts the new set"),
]  # fmt: skip
