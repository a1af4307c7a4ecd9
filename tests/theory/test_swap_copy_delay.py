"""R7: four layers with one factor a token, run exactly; blocks too short and broken counters are noticed."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

import numpy as np
import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.theorems._block_delay import ripple_counter, rotation_counter, two_layer_counter
from mirrormata.theory.claims.r7 import FourLayers, counter_defect, four_layers


def true_states(layers: FourLayers, word: list[int]) -> list[int]:
    maps = layers.automaton.transitions
    return list(accumulate(word, lambda q, x: int(maps[x, q]), initial=layers.automaton.start))[1:]


@pytest.mark.parametrize(
    "spec", ["parity", "flipflop", "T3", "T4", "tomita:3", "even_pairs", "random:states=6,letters=2,seed=4"]
)
def test_states_of_any_automaton(spec: str) -> None:
    layers = four_layers(automaton_from_spec(spec))
    assert layers.block == max(len(layers.automaton.states) - 1, 1)
    assert (len(layers.counter.layers), counter_defect(layers.counter)) == (2, None)
    word = np.random.default_rng(1).integers(len(layers.automaton.letters), size=50).tolist()
    assert list(layers.run(word)) == true_states(layers, word)


def test_short_blocks_lose_states() -> None:
    automaton = automaton_from_spec("T4")
    short = FourLayers(automaton, 2, two_layer_counter(4))
    word = np.random.default_rng(0).integers(3, size=60).tolist()
    assert list(short.run(word)) != true_states(short, word)


def test_steps_of_a_block() -> None:
    layers = four_layers(automaton_from_spec("T3"))
    steps = layers.block_steps(1, [2, 2, 0, 1, 2])
    image = list(range(3))
    for step in steps:
        image = [step(q) for q in image]
    first, second = layers.automaton.transitions[0], layers.automaton.transitions[1]
    assert image == second[first].tolist()


def test_counters_that_do_not_count() -> None:
    counter = two_layer_counter(6)
    assert counter_defect(counter) is None
    assert counter_defect(ripple_counter(8)) is None
    assert counter_defect(rotation_counter(5)) == "layer 0 has 2 factors a token"
    assert counter_defect(replace(counter, layers=counter.layers[:1])) == "two phases have the same codes"
    assert (
        counter_defect(replace(counter, layers=counter.layers[1:]))
        == "layer 0 reads more than the layers below tell"
    )
    layer = counter.layers[1]
    (head,) = layer.heads
    turned = replace(layer, heads=(replace(head, transitions=head.transitions[::-1]),))
    assert (
        counter_defect(replace(counter, layers=(counter.layers[0], turned)))
        == "layer 1 leaves its code at phase 0"
    )
