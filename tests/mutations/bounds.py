"""Mutations of lower bounds: those that planning finds, and those that the checker finds on its own."""

from __future__ import annotations

from .record import Mutation

PLANNING, CHECKER = "theory.planning._bounds:", "theory.checker.bound:"
VECTORS, CHECKED = "theory.planning._one_vector:", "theory.checker._one_vector:"
MUTATIONS = [
    Mutation(
        PLANNING + "bounds",
        "2 if long else 1, witness",
        "2 if by_letter else 1, witness",
        "a swap is said to need two factors",
    ),
    Mutation(
        PLANNING + "_find_bounds",
        "if len(cycle) > 2][:1]",
        "if len(cycle) > 1][:1]",
        "cycles of two count as long",
    ),
    Mutation(
        PLANNING + "bounds",
        "len(turning[-1][1]).bit_length() - 1",
        "len(turning[-1][1]).bit_length()",
        "one triangular layer too many is demanded",
    ),
    Mutation(
        PLANNING + "bounds", '"PD.N-1", n - 1,', '"PD.N-1", n,', "the state is said to need a number more"
    ),
    Mutation(
        PLANNING + "_turning_words",
        "len(cycle).bit_count() > 1",
        "len(cycle) % 2",
        "cycles of six count as a power of two",
    ),
    Mutation(
        PLANNING + "_turning_words",
        "if turning else 1)",
        "if turning else 0)",
        "a state that stays counts as a cycle",
        equivalent_because="cycles are listed from two points on",
    ),
    Mutation(
        PLANNING + "_splits_icosahedral",
        "len(group) == 60 and",
        "len(group) <= 60 and",
        "any small group counts as icosahedral",
    ),
    Mutation(
        PLANNING + "_splits_icosahedral",
        "and not (group",
        "and (group",
        "conjugate elements count as not conjugate",
    ),
    Mutation(PLANNING + "_all_maps", "< n * (n - 1)", "< n", "groups that are not 2-transitive pass"),
    Mutation(
        PLANNING + "_all_maps",
        "len(np.unique(row)) == n - 1",
        "len(np.unique(row)) < n",
        "a letter that merges more than two states counts as merging two",
    ),
    Mutation(
        PLANNING + "_all_maps",
        "if length % 2 == 0] == [2]",
        "if length % 2 == 0][:1] == [2]",
        "two swaps pass for a transposition",
    ),
    Mutation(
        "theory.planning._cycles:proper_cycles",
        "lasting[row[lasting] != lasting]",
        "row",
        "points before a cycle count as its own",
    ),
    Mutation(
        PLANNING + "_words",
        "maps[letters[:, None], image]",
        "image[maps[letters]]",
        "words are composed in the other order",
    ),
    Mutation(PLANNING + "_power", "result = result[result]", "result = result", "powers are not squared"),
    Mutation(
        CHECKER + "bounds",
        "2 if long else 1",
        "2 if by_letter else 1",
        "the checker lets a swap need two factors",
    ),
    Mutation(
        CHECKER + "bounds",
        "len(cycle) & (len(cycle) - 1)",
        "len(cycle) % 2",
        "the checker takes cycles of six for a power of two",
    ),
    Mutation(
        CHECKER + "bounds",
        "n - 1, generators)",
        "n, generators)",
        "the checker lets the state need a number more",
    ),
    Mutation(
        CHECKER + "bounds",
        ".bit_length() - 1, witness",
        ".bit_length(), witness",
        "the checker demands one triangular layer too many",
    ),
    Mutation(
        CHECKER + "cycles",
        "seen[q] == p and f[q] != q",
        "seen[q] == p",
        "the checker counts fixed points as cycles",
    ),
    Mutation(
        CHECKER + "words",
        "h = tuple([g[q] for q in f])",
        "h = tuple([f[q] for q in g])",
        "the checker composes words in the other order",
    ),
    Mutation(
        CHECKER + "split_icosahedral",
        "all(any(g[a[p]] != b[g[p]]",
        "any(any(g[a[p]] != b[g[p]]",
        "the checker takes conjugate elements for not conjugate",
    ),
    Mutation(
        CHECKER + "two_pairs",
        "if word else ():",
        "if not word else ():",
        "the checker conjugates by the empty word alone",
    ),
    Mutation(
        CHECKER + "all_maps", "< n * (n - 1)", "< n", "the checker lets groups pass that are not 2-transitive"
    ),
    Mutation(
        CHECKER + "all_maps",
        "% 2 == 0] == [2]",
        "% 2 == 0][:1] == [2]",
        "the checker takes two swaps for a transposition",
    ),
    Mutation(
        CHECKER + "period",
        "order *= length // a",
        "order *= length",
        "the checker's orders are products, not common multiples",
    ),
    Mutation(
        CHECKER + "check",
        'same(automaton["sources"], sources)',
        "True",
        "the table may say other sources",
    ),
    Mutation(
        CHECKER + "check",
        "need(same(said[name], mine[at][name])",
        "need(True or same(said[name], mine[at][name])",
        "a bound may say more than the checker found",
    ),
    Mutation(
        VECTORS + "find_splitting_words",
        "if rank == 2:",
        "if rank <= 3:",
        "words with three images count as splitting",
    ),
    Mutation(
        VECTORS + "_pull_back",
        "((x, *word), inside[maps[x]])",
        "((*word, x), inside[maps[x]])",
        "the letters of a longer word are in the other order",
    ),
    Mutation(
        VECTORS + "_Echelon.__init__",
        "self.add(np.ones(size, dtype=np.int64))",
        "self.add(np.zeros(size, dtype=np.int64))",
        "the vector of ones need not be independent of the indicators",
    ),
    Mutation(
        VECTORS + "most_ranks",
        "now = falls + (left < rank)",
        "now = falls + (left <= rank)",
        "a letter that merges nothing counts as a fall",
    ),
    Mutation(
        VECTORS + "most_ranks",
        "best, best_word = now + (left > 1)",
        "best, best_word = now + 1",
        "a reset leaves a dimension",
        equivalent_because="a reset never has more than the word before it, which left two states",
    ),
    Mutation(
        CHECKED + "splitting_words",
        "if images == 2 and add(",
        "if images <= 3 and add(",
        "the checker takes three images for two",
    ),
    Mutation(
        CHECKED + "splitting_words",
        "span.add([1] * n)",
        "span.add([0] * n)",
        "the checker lets the vector of ones depend on the indicators",
    ),
    Mutation(
        CHECKED + "ranks",
        "after = falls + (images < before)",
        "after = falls + (images <= before)",
        "the checker counts letters that merge nothing as falls",
    ),
    Mutation(
        CHECKED + "check_no_gram",
        "need(times and sum(x) == 0 and sum(y) == 0",
        "need(times and sum(y) == 0",
        "the checker takes x of another sum",
        noticed_by="tests/theory/test_one_vector.py::test_vectors_of_another_sum_prove_nothing",
    ),
    Mutation(
        CHECKED + "check_no_gram",
        "need(total == wanted,",
        "need(True or total == wanted,",
        "the checker lets the equations add up to anything",
    ),
    Mutation(
        CHECKED + "check_no_gram",
        "need(back is not None and word == back",
        "need(back is not None or word == back",
        "the checker takes a word that does not lead back",
    ),
    Mutation(
        CHECKED + "check_witness",
        "(*RULES[WITNESSED], 2)",
        "(*RULES[WITNESSED], said['at_least'])",
        "the checker lets own.LMI demand any number of layers",
    ),
]
