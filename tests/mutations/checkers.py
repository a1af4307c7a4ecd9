"""Mutations of the stand-alone checkers: what each may not leave out."""

from __future__ import annotations

from .record import Mutation

CHECKER = "theory.checker."
HEAD, ROWS = CHECKER + "_head:Head.", CHECKER + "_rows:ExactRows."
HORIZON, REGIONS, STORED = CHECKER + "horizon:", CHECKER + "regions:", CHECKER + "_stored:"
COVERING = CHECKER + "_covering:"
DELAY, EQUIVALENT = CHECKER + "delay:", CHECKER + "equivalent:"
COVERING_TESTS = "tests/theory/test_covering_checker.py::test_"
REFUSES_EACH = COVERING_TESTS + "each_step_of_the_proof_refuses_what_it_is_for"
REFUSES_NO_CODE = COVERING_TESTS + "a_head_refuses_a_letter_that_leads_to_no_code"
MUTATIONS = [
    Mutation(
        HEAD + "factor",
        "sign(2 - size) >= 0",
        "sign(4 - size) >= 0",
        "factors of norm up to 3 count as norm 1",
    ),
    Mutation(
        HEAD + "factor", "self.copies = True", "self.copies = False", "copies, of norm √2, count as norm 1"
    ),
    Mutation(
        HEAD + "factor", "return beta, v, read", "return beta, v, v", "a copy is applied as a reflection"
    ),
    Mutation(HEAD + "transition", "sign(1 + gate) >= 0", "True", "gates below -1 are accepted"),
    Mutation(HEAD + "transition", "sign(1 - gate) > 0", "True", "gates above 1 are accepted"),
    Mutation(
        ROWS + "reflect",
        "row.get(column, 0) - scale * s",
        "row.get(column, 0) + scale * s",
        "I + β v vᵀ is applied",
    ),
    Mutation(
        ROWS + "reflect",
        'in transition["factors"]:',
        'in transition["factors"][::-1]:',
        "the first factor is applied last",
    ),
    Mutation(HEAD + "landings", "summed.get((i, j), 0) + b", "summed.get((i, j), 0) - b", "B is subtracted"),
    Mutation(
        HEAD + "multiply", "gate * x for c, x in", "x for c, x in", "the gate of an integer head is left out"
    ),
    Mutation(HEAD + "images", "if -1 in after:", "if False:", "a code may go to no code", REFUSES_NO_CODE),
    Mutation(
        HEAD + "images",
        '(t["gate"], t.get("matrix"), *t["factors"])',
        '(t["gate"], t.get("matrix"))',
        "letters of one gate count as letters of one matrix",
    ),
    Mutation(
        HEAD + "images",
        "for v in range(self.points)] if kept",
        "for v in image] if kept",
        "what stays in the second half of a pair is moved with the first",
    ),
    Mutation(
        HEAD + "keeps_second",
        "all(i < half for i, _, _ in touched)",
        "True",
        "a letter that writes the second half of a pair counts as one that leaves it",
    ),
    Mutation(
        CHECKER + "table:check_decode",
        "states[r] != row[state]",
        "False",
        "a code may lie over another state than the letter leads to",
    ),
    Mutation(
        CHECKER + "table:check_summary",
        "bound <= reach",
        "bound <= 2 * reach",
        "formats with one bit too few are listed",
    ),
    Mutation(
        CHECKER + "table:check_table",
        'same(document["outputs"], wanted)',
        "True",
        "the outputs beside the codes may be any",
    ),
    Mutation(
        CHECKER + "layers:tells_point",
        "seen.setdefault(after, c // share) == c // share",
        "True",
        "a read-out may use what the new code does not tell",
    ),
    Mutation(
        CHECKER + "layers:check_joint",
        "said == row[state],",
        "True,",
        "the last read-out may name another state than the automaton's",
    ),
    Mutation(
        COVERING + "check_covering",
        "need(said == right,",
        "need(True,",
        "a cascade's read-out may name any state",
    ),
    Mutation(
        COVERING + "check_covering",
        "need(nodes[T][1] == right,",
        "need(True,",
        "a cascade may lead to any state",
    ),
    Mutation(
        COVERING + "below",
        "[ways[T][p] for p in moves[entered][transition]]",
        "ways[T]",
        "the chain after a letter goes on by the old point",
    ),
    Mutation(
        COVERING + "below",
        "choices.points[met])",
        "choices.points[-1])",
        "the chain before a letter goes on by the first point alone",
    ),
    Mutation(
        COVERING + "below",
        "if None in following:",
        "if False:",
        "a letter that is null may occur",
        REFUSES_EACH,
    ),
    Mutation(
        COVERING + "point_moves",
        "if code not in taken",
        "if True",
        "a code that is taken counts as free",
    ),
    Mutation(
        COVERING + "check_idle",
        "entered != h and not",
        "False and not",
        "heads that are not entered may do anything",
        REFUSES_EACH,
    ),
    Mutation(
        COVERING + "check_moves",
        "len(reached) < heads[h].points",
        "False",
        "a letter that permutes may be a reset",
        REFUSES_EACH,
    ),
    Mutation(
        DELAY + "check_counter",
        "told.setdefault(codes, read) == read",
        "True",
        "a counter's layer may read the phase itself",
    ),
    Mutation(
        DELAY + "check_counter",
        "len(set(below)) == period",
        "True",
        "two phases of the counter may look alike",
    ),
    Mutation(
        DELAY + "check_elements",
        "[letter[p] for p in image]",
        "[image[p] for p in letter]",
        "products in the other order",
    ),
    Mutation(
        DELAY + "check_elements",
        "same(states[e], wanted[e])",
        "True",
        "a group element may stand for another state than its word reaches",
    ),
    Mutation(EQUIVALENT + "all_states", "in order:", "in order[:1]:", "only the first state is followed"),
    Mutation(
        EQUIVALENT + "all_states",
        "in range(model.letters)",
        "in range(1, model.letters)",
        "the first letter is not tried",
    ),
    Mutation(
        EQUIVALENT + "all_states",
        "said == right(machine, answers, x, q, p)",
        "(k, p) in seen or said == right(machine, answers, x, q, p)",
        "the answer is looked at in new states only",
    ),
    Mutation(
        EQUIVALENT + "all_states",
        "(k, p) not in seen",
        "k not in {s for s, _ in seen}",
        "a state is met once only, whatever the automaton's state",
    ),
    Mutation(
        STORED + "Model.sums",
        "+ b * D",
        "+ b",
        "B is divided by the denominator of the state",
        "tests/theory/test_checker_arithmetic.py::test_exact_steps_and_distances",
    ),
    Mutation(STORED + "Model.sums", "E * D)", "D)", "the denominator of the weights is lost"),
    Mutation(STORED + "Model.step", "if n else ZERO", "if n > 0 else ZERO", "negative sums become 0"),
    Mutation(
        STORED + "Model.step_by_operations",
        "if state[at]]",
        "if state[at] > 0]",
        "negative entries of a state are left out like zeros",
    ),
    Mutation(
        STORED + "Model.step_by_operations",
        "if numbers else b",
        "if numbers else ZERO",
        "B is lost where no term is left",
        "tests/theory/test_checker_arithmetic.py::test_steps_with_zeros_are_the_plain_ones",
    ),
    Mutation(
        STORED + "Model.step_by_operations",
        "zip(columns, terms, strict=True)",
        "enumerate(terms)",
        "terms lose their places in the sum by pairs",
    ),
    Mutation(STORED + "distance", "C * a - D * b", "D * a - C * b", "distances mix up the denominators"),
    Mutation(
        STORED + "distance", "C * a - D * b", "C * a + D * b", "distances are those from minus the code"
    ),
    Mutation(STORED + "distance", "(C * D) ** 2", "C * D", "distances are too large by a denominator"),
    Mutation(
        STORED + "Model.nearest",
        "sizes.index(min(sizes))",
        "sizes.index(max(sizes))",
        "the farthest code answers",
    ),
    Mutation(
        STORED + "common", "D // x.denominator", "D", "whole numbers are too large by their denominators"
    ),
    Mutation(
        EQUIVALENT + "bound_entries",
        "sums.get((i, j), 0) + abs(b)",
        "sums.get((i, j), 0)",
        "B's share of partial sums is left out",
    ),
    Mutation(
        EQUIVALENT + "integer_dtypes",
        "m <= reach",
        "m <= 2 * reach",
        "operations count as exact in a bit too few",
    ),
    Mutation(
        STORED + "Model.nearest",
        "sizes.index(min(sizes))",
        "len(sizes) - 1 - sizes[::-1].index(min(sizes))",
        "ties go to the last code",
    ),
    Mutation(
        STORED + "Model.sums",
        " + b * D",
        "",
        "B is left out",
    ),
    Mutation(
        STORED + "Model.step_by_operations",
        "numbers, b, n)",
        "numbers, b, len(numbers))",
        "sums by pairs close the gaps of zeros",
    ),
    Mutation(
        STORED + "right",
        "machine.outputs[x][before]",
        "machine.outputs[x][after]",
        "a Mealy output is that of the state after",
    ),
    Mutation(
        REGIONS + "regions",
        "reach = off -",
        "reach = 0 -",
        "how far a code's image lies from the next is left out",
    ),
    Mutation(
        REGIONS + "regions", "- (-norms[x] * r // NORM_GRID)", "", "a letter does not carry the ball along"
    ),
    Mutation(
        REGIONS + "regions",
        'arithmetic.kind == "exact" or (arithmetic.kind == "per_step" and arithmetic.format is not None)',
        "True",
        "a sign is turned exactly in every set of values",
    ),
    Mutation(REGIONS + "regions", " + added[x]", "", "B's share of what is rounded is left out"),
    Mutation(REGIONS + "regions", "(sizes[c] + r)", "r", "the code's share of what is rounded is left out"),
    Mutation(
        REGIONS + "rounding",
        "2**precision)",
        "2 ** (precision + 1))",
        "half of the rounding error is left out",
    ),
    Mutation(
        REGIONS + "rounding",
        "precision -= 1",
        "precision -= 0",
        "directed rounding counts as rounding to nearest",
    ),
    Mutation(REGIONS + "apart", "4 * radius", "1 * radius", "a ball may reach to another answer's code"),
    Mutation(REGIONS + "dominates", "pivot < 0 or (", "(", "norms above the bound are accepted"),
    Mutation(REGIONS + "dominates", " - r[0] * a", "", "only the diagonal of AᵀA counts for a norm"),
    Mutation(
        REGIONS + "dominates",
        "before = pivot",
        "before = 1",
        "the pivots are not divided out again",
        equivalent_because="all numbers are then multiplied by what is positive, which keeps their signs",
    ),
    Mutation(
        REGIONS + "spectral",
        "dominates(s * D,",
        "dominates(s * D * D,",
        "norms are too small by a denominator",
    ),
    Mutation(
        HORIZON + "head_horizon",
        "reach / 2**precision",
        "reach / 2 ** (precision + 1)",
        "half of the rounding error is left out",
    ),
    Mutation(
        HORIZON + "head_horizon",
        "delta * radius +",
        "0 * radius +",
        "the rounding of the weights is left out",
    ),
    Mutation(HORIZON + "head_horizon", "(first - margin)", "(0 - margin)", "the rounding of H_0 is left out"),
    Mutation(
        HORIZON + "head_horizon",
        "size * Fraction(2) ** (least - precision)",
        "0 * least",
        "what underflows is left out",
    ),
    Mutation(
        HORIZON + "head_horizon",
        '"matrix" not in t and',
        "",
        "matrices whose norm nothing bounds have a horizon",
    ),
    Mutation(
        HORIZON + "extent", "2**97)", "2**96)", "the whole distance of two codes is taken for half of it"
    ),
    Mutation(HORIZON + "norm_up", "root + (root * root < square)", "root", "norms are rounded down"),
    Mutation(
        CHECKER + "exact:sign",
        "low > 0 or high < 0",
        "low > 0 or high < 1",
        "small positive numbers pass for zero or less",
    ),
    Mutation(
        CHECKER + "exact:Field.theta",
        "if value <= 0",
        "if value < 0",
        "where the polynomial is zero the other half is kept",
        equivalent_because="θ is irrational where its degree is above 1, so that no dyadic number is a root",
    ),
]
