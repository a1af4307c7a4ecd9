"""Changes of the constructions of groups, counters and cascades."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mirrormata.constructions._realisation import Transition
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._householder import gh_factor
from mirrormata.constructions.cascades._layers import cascade_lrnn
from mirrormata.tests.theory.claims.claim_mutation import Mutation


def unsigned(mirrors: Any) -> Any:
    """A constant added to all angles would only turn the frame, and all signs changed reflect it."""

    def changed(m: Any, degree: Any) -> Any:
        mirror = mirrors(m, degree)
        return lambda k: mirror(abs(k))

    return changed


def projections(_: Any) -> Any:
    return lambda i, j: gh_factor(1, {i: 1})


def off_by_one(residues: Any) -> Any:
    def changed(automaton: Any, *rest: Any) -> Any:
        found = residues(automaton, *rest)
        return found and ([w + 1 for w in found[0]], found[1])

    return changed


def without_second_size(plan_sizes: Any) -> Any:
    def changed(*arguments: Any) -> Any:
        sizes = plan_sizes(*arguments)
        return sizes[:1] + sizes[2:] if len(sizes) > 3 else sizes

    return changed


def turned_letters(quotient_automaton: Any) -> Any:
    def changed(*arguments: Any) -> Any:
        quotient = quotient_automaton(*arguments)
        return replace(quotient, transitions=quotient.transitions[::-1])

    return changed


def without_last_quotient(lay_side_by_side: Any) -> Any:
    return lambda automaton, quotients, **texts: lay_side_by_side(automaton, quotients[:-1], **texts)


def without_token_before(read_level: Any) -> Any:
    def changed(self: Any, level: int, H: Any, acts: Any, old: Any, new: Any, before: Any) -> Any:
        return read_level(self, level, H, acts, old, new, H)

    return changed


def signs_of_scalars_alone(choose: Any) -> Any:
    def changed(form: Any, other: Any, which: Any) -> Any:
        return form if (form.turns < 0).any() else choose(form, other, which)

    return changed


def one_letter_fewer(deciding_length: Any) -> Any:
    return lambda maps: (deciding_length(maps) or 1) - 1 or 1


def turned_backwards(transition: Any) -> Any:
    def changed(register: Any, kind: int) -> Any:
        found = transition(register, kind)
        return replace(found, factors=found.factors[:1] + found.factors[:0:-1])

    return changed


def new_for_old(top_sets: Any) -> Any:
    def changed(*arguments: Any) -> Any:
        _, new, wrong = top_sets(*arguments)
        return new, new, wrong

    return changed


def turned_register(window_states: Any) -> Any:
    return lambda form, register, start, length: window_states(
        form, register[:, :length][:, ::-1], start, length
    )


def last_letter_first(compose_letters: Any) -> Any:
    return lambda transitions, words: compose_letters(transitions, words[:, ::-1])


def nothing_to_come(_: Any) -> Any:
    return lambda stepper, H, steps, position: H.copy()


def swap_as_negative_swap(_: Any) -> Any:
    return lambda i, j: gh_factor(1, {i: 1, j: 1})


def erasing_the_wrong_half(transition: Any) -> Any:
    """Π_v·S in place of S·Π_v."""

    def changed(row: Any, places: Any, remembered: Any, gated: Any) -> Any:
        found = transition(row, places, remembered, gated)
        return replace(found, factors=found.factors[::-1]) if remembered and found.additive else found

    return changed


def inverse_permutations(head: Any) -> Any:
    def changed(table: Any, *rest: Any) -> Any:
        rows = [np.argsort(r) if len(set(r.tolist())) == len(r) else r for r in table]
        return head(np.array(rows), *rest)

    return changed


def forgetful(head: Any) -> Any:
    return lambda table, actions, remembered, *rest: head(table, actions, False, *rest)


def reversed_factors(factors: Any) -> Any:
    return lambda image: factors(image)[::-1]


def fewer_factors(factors: Any) -> Any:
    return lambda image: factors(image)[1:]


def two_exchanged(rotations: Any) -> Any:
    def changed() -> Any:
        found = rotations()
        g, h = [g for g in found if any(g[i] != i for i in range(5)) and all(g[g[i]] == i for i in range(5))][
            :2
        ]
        return {**found, g: found[h], h: found[g]}

    return changed


def of_the_other_product(build: Any) -> Any:
    other = {"left": "right", "right": "left"}
    return lambda m, side: replace(
        build(m, other[side]), automaton=automaton_from_spec(f"dihedral:{m}", product=side)
    )


def new_letters_reversed(number_letters: Any) -> Any:
    def changed(*arguments: Any) -> Any:
        first, *others = number_letters(*arguments)
        return [first, *(letters[::-1] for letters in others)]

    return changed


def always(**fixed: Any) -> Any:
    return lambda function: lambda *arguments, **rest: function(*arguments, **{**rest, **fixed})


def printed_wiring(_: Any) -> Any:
    return lambda automaton, cascade, **rest: cascade_lrnn(
        automaton, cascade, **{**rest, "wiring": "printed"}
    )


def gate_open(transition: Any) -> Any:
    return lambda *arguments: replace(transition(*arguments), gate=1)


def turned_levels(cascade: Any) -> Any:
    def changed(automaton: Any) -> Any:
        built = cascade(automaton)
        first = built.levels[0]
        tables = tuple(np.roll(table, 1, axis=1) for table in first.actions)
        return replace(built, levels=(replace(first, actions=tables), *built.levels[1:]))

    return changed


MUTATIONS = [
    Mutation("G.T6", "constructions.theorems.g_t6:mirrors", unsigned, "angle: its absolute value"),
    Mutation("G.T6", "constructions.theorems.g_t6:FLIP", lambda _: Transition(), "sign: the parity is never flipped"),
    Mutation("G.T6", "constructions.theorems.g_t6:residues", off_by_one, "every letter adds one more"),
    Mutation("G.T6", "constructions.theorems.g_t6:swap", projections, "v = e_i: projections for swaps"),
    Mutation("DP.T7", "constructions.theorems.dp_t7:mirrors", unsigned, "angle: its absolute value"),
    Mutation("DP.T7", "theory.claims.dp_t7:dihedral", of_the_other_product, "order: the other product"),
    Mutation("DP.T7", "constructions.theorems.dp_t7:KEEP", lambda _: Transition((gh_factor(2, {0: 1}),)), "sign: both parities flip"),
    Mutation("DP.T7.printed", "theory.claims.dp_t7_printed:mirror", lambda f: lambda x, p, _: f(x, p, "corrected"), "angle: the corrected one"),
    Mutation("DP.T7.printed", "theory.claims.dp_t7_printed:multiply_elements", lambda f: lambda x, y, m: f(y, x, m), "order: y·x for x·y"),
    Mutation("G.T4", "constructions.cascades._layers:_head", forgetful, "no state is doubled"),
    Mutation("G.T4", "constructions.cascades._layers:_head", inverse_permutations, "transposition: inverse permutations"),
    Mutation("G.T4", "constructions.cascades._layers:_transition", erasing_the_wrong_half, "order: Π_v·S for S·Π_v"),
    Mutation("G.T4", "constructions.cascades._layers:swap", swap_as_negative_swap, "sign: v = e_i + e_j"),
    Mutation("G.T4", "theory.claims.g_t4:cascade_lrnn", printed_wiring, "wiring: new states are read"),
    Mutation("G.T4.printed", "theory.claims._printed_cascades:cascade_lrnn", always(wiring="repaired"), "wiring: old states are read"),
    Mutation("DP.T2", "constructions.cascades._layers:_transition", gate_open, "the gate is 1"),
    Mutation("DP.T2", "theory.claims.dp_t2:cascade_lrnn", printed_wiring, "wiring: new states are read"),
    Mutation("DP.T2.printed", "theory.claims._printed_cascades:cascade_lrnn", always(wiring="repaired"), "wiring: old states are read"),
    Mutation("DP.L4", "constructions.cascades._layers:_head", inverse_permutations, "transposition: inverse permutations"),
    Mutation("DP.L4", "constructions.cascades._layers:_transition", gate_open, "the gate is 1"),
    Mutation("KR", "theory.claims.kr:cascade", turned_levels, "order: the first level's tiles turned"),
    Mutation("G.T3", "constructions.heads._representations:permutation_factors", reversed_factors, "order: the first factor last"),
    Mutation("G.T3", "constructions.heads._representations:permutation_factors", fewer_factors, "a swap is left out"),
    Mutation("G.T3remark", "theory.claims.g_t3remark:permutation_factors", reversed_factors, "order: the first factor last"),
    Mutation("G.T3remark.printed", "theory.claims.g_t3remark_printed:permutation_factors", fewer_factors, "a swap is left out"),
    Mutation("G.S32", "theory.claims.g_s32:automaton_from_spec", always(product="left"), "order: m·y for y·m"),
    Mutation("G.S32.printed", "theory.claims.g_s32:tables", lambda f: lambda group, _: f(group, "right"), "order: y·m for m·y"),
    Mutation("DP.T1", "constructions._delay:permutation_factors", reversed_factors, "order: the first factor last"),
    Mutation("DP.L2", "constructions.theorems._rotations:rotation", lambda f: lambda k, m: f(k + 1, m), "angle: one step more"),
    Mutation("DP.L3", "theory.claims.dp_l3:gh_factor", lambda f: lambda beta, v: f(2 * beta, v), "sign: reflections for projections"),
    Mutation("DP.L3", "theory.claims.dp_l3:read", lambda f: lambda buffer, oldest: f(buffer, oldest)[::-1], "order: the last token first"),
    Mutation("own.chain", "theory.running._chain:split_permutations", lambda f: lambda images: f(images)[::-1], "order: the second round of swaps first"),
    Mutation("own.chain", "theory.claims.own_chain:plan_sizes", without_second_size, "sizes: the second one left out"),
    Mutation("own.window", "theory.running._chain:ChainStepper.top_sets", new_for_old, "wiring: the set after the token for the one before it"),
    Mutation("own.window", "constructions.chains._chain:ChainRNN.window_states", turned_register, "order: the newest letter acts first"),
    Mutation("own.lookback", "constructions.chains._chain:ChainRNN.window_states", turned_register, "order: the newest letter acts first"),
    Mutation("own.lookback", "theory.running._chain:ChainStepper.read_level", without_token_before, "wiring: the state after the token for the one before it"),
    Mutation("own.blocks", "theory.running._blocks:compose_letters", last_letter_first, "order: the last letter of a block acts first"),
    Mutation("own.blocks", "theory.running._blocks:BlockStepper.complete", nothing_to_come, "delay: the factors still to come are left out"),
    Mutation("own.congruences", "constructions.theorems.own_congruences:quotient_automaton", turned_letters, "order: the letters of a quotient"),
    Mutation("own.congruences", "constructions.theorems.own_congruences:lay_side_by_side", without_last_quotient, "a quotient is left out"),
    Mutation("own.covers", "constructions.theorems.own_covers:rotation", lambda f: lambda k, m: f(k + 1, m), "angle: one step more"),
    Mutation("own.covers", "constructions.theorems.own_covers:Symmetries.choose", signs_of_scalars_alone, "sign: -c with O"),
    Mutation("own.definite", "constructions.theorems.own_definite:deciding_length", one_letter_fewer, "a row is left out"),
    Mutation("own.definite", "constructions.theorems.own_definite:Register.transition", turned_backwards, "order: the swaps from the front"),
    Mutation("own.decay", "constructions.decays._decay:_round", lambda f: lambda x, precision: f(x, precision - 1), "one bit fewer"),
    Mutation("own.decay", "constructions.decays._decay:DecayRNN.base", lambda _: property(lambda form: 2), "base: 2 for 4"),
    Mutation("own.serial", "constructions.theorems._in_series:remember", lambda _: lambda head, initial, wanted: replace(head), "nothing is kept"),
    Mutation("own.serial", "constructions.theorems._in_series:_number_letters", new_letters_reversed, "order: the letters of deeper layers"),
    Mutation("own.serial", "constructions.heads._remembering:signed_permutation_factors", lambda f: lambda image, signs: f(image, signs)[::-1], "order: the first factor last"),
    Mutation("own.T2tight", "constructions.theorems.own_t2tight:FLIP", lambda _: Transition(), "sign: 1 for -1"),
    Mutation("own.T2tight", "constructions.theorems.own_t2tight:residues", off_by_one, "every letter adds one more"),
    Mutation("H.A5inv", "constructions.theorems._rotations:icosahedral_rotations", two_exchanged, "order: two half-turns change places"),
]  # fmt: skip
