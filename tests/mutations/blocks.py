"""Mutations of chains of sets over blocks: of their checker, of the lists of factors, of the layers, and of the plans for them."""

from __future__ import annotations

from .record import Mutation

CHECKER, STEPS = "theory.checker.blocks:", "constructions.chains._block_steps:"
FORM, PLAN = "constructions.chains._blocks:", "constructions.theorems._blocks:"
STEPPER = "theory.running._blocks:BlockStepper."
FACTORS = "tests/constructions/test_blocks.py::test_the_factors_follow_the_sets"
WORDS = "tests/constructions/test_blocks.py::test_sizes_hold_for_words"
LISTED = "tests/constructions/test_blocks.py::test_maps_and_words_are_all_of_them"
MUTATIONS = [
    Mutation(CHECKER + "block_length", "(period - window) // 2", "period // 2", "the window has no room in the ring buffer"),
    Mutation(CHECKER + "block_length", "if period % m == 0", "if True", "a block need not divide the ring buffer"),
    Mutation(CHECKER + "check_sizes", "falls in ([], [0])", "True", "sizes are looked at for single letters alone"),
    Mutation(CHECKER + "check_sizes", "need(sizes[0] == n,", "need(True,", "the first set need not be that of all states"),
    Mutation(CHECKER + "all_maps", "row[q] for q in image", "image[q] for q in image", "the maps of words are not all listed"),
    Mutation(CHECKER + "check_letters", "need(all(row !=", "need(True or all(row !=", "letters that move no state stand in a window", equivalent_because="such a letter leads from Q back to Q, which `check_window` refuses"),
    Mutation(CHECKER + "check_letters", "need(all(a - b == 1", "need(all(a - b >= 1", "with a window sizes may be left out"),
    Mutation(CHECKER + "check", 'need(same(document["block"], m)', 'need(True', "the block may be another"),
    Mutation(CHECKER + "check", "need(sizes[-1] == 1,", "need(True,", "the last set may have several states"),
    Mutation(CHECKER + "check", "window is None and sizes == [n, 1],", "True,", "copies may have several levels"),
    Mutation(CHECKER + "check", "resets = merges and not copies", "resets = not copies", "permutations have a second half"),
    Mutation(CHECKER + "check", "-(-cost // m)", "cost // m", "the factors of a token are rounded down"),
    Mutation(CHECKER + "check", "if copies and merges else", "if False else", "copies have the norm 1"),
    Mutation(STEPS + "Steps.transition", "written[i] = writes", "pass", "a projection writes nothing", FACTORS),
    Mutation(STEPS + "Steps.transition", "written.get(j, False), written.get(i, False)", "written.get(i, False), written.get(j, False)", "what is written does not go through the swaps", FACTORS),
    Mutation(STEPS + "level_steps", "entries + p if second_half else entries", "entries", "a reset erases u in place of v"),
    Mutation(STEPS + "level_steps", "written[resets, entries] =", "written[resets, entries] |= False &", "a reset writes nothing"),
    Mutation(STEPS + "compose_letters", "table[letter[:, None], maps]", "np.take_along_axis(maps, table[letter], axis=1)", "the last letter of a block is applied first"),
    Mutation(STEPS + "block_words", "after[max(len(after) - tail, 0) :]", "after[len(after) :]", "the last letters of a block do not count", LISTED),
    Mutation(FORM + "block_length", "(window or 0)", "0", "the window has no room in the ring buffer"),
    Mutation(FORM + "BlockRNN.keeps_old", "level < self.levels - 1", "level < self.levels - 2", "the last level but one has no second half"),
    Mutation(FORM + "BlockRNN.budget", "-(-cost // self.block)", "cost // self.block", "the factors of a token are rounded down"),
    Mutation(FORM + "BlockRNN.buffer_transition", "gh_factor(1, {phase: 1})", "gh_factor(2, {phase: 1})", "the ring buffer's row is reflected", FACTORS),
    Mutation(FORM + "BlockRNN.follow_block", "words[:, ::-1], states.register", "words, states.register", "the letters of a block are remembered the wrong way round", FACTORS),
    Mutation(PLAN + "plan_block_sizes", "maps = list_maps(transitions, MAX_MAPS)", "maps = transitions", "sizes are planned for single letters", WORDS),
    Mutation(STEPPER + "write", "buffer[rows, phase] -= buffer[rows, phase]", "pass", "the ring buffer's row is not erased"),
    Mutation(STEPPER + "tell", "phase - position + 1 - m, m)", "phase - position + 1, m)", "the block that is read is taken for the one before"),
    Mutation(STEPPER + "tell", "np.arange(m) < position[:, None]", "np.arange(m) < position[:, None] - 1", "the letter just read is left out"),
    Mutation(STEPPER + "tell", "position + 1 - m - window, window)", "position + 1 - window, window)", "the window after the block is taken for the one before it"),
    Mutation(STEPPER + "token_steps", "(position[:, None] - 1) *", "position[:, None] *", "a token applies the next one's factors"),
    Mutation(STEPPER + "complete", ">= (position * self.form.budget)", "> (position * self.form.budget)", "the next factor is left out of the read-out"),
    Mutation(STEPPER + "read_level", "back, done[:, p:] == 1)", "back, after)", "after a reset the new set is taken for the old one"),
    Mutation(STEPPER + "read_level", "np.take_along_axis(after, images, axis=1)", "after", "the old set is not read back through the permutation"),
]  # fmt: skip
