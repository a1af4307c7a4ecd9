"""G.T6, DP.T7 and the ripple counter as constructions: certified, equal to the oracles, right in every dtype."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Literal

import numpy as np
import pytest

from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._realisation import INTEGER_RANGES, Transition
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._cyclotomic import real_cyclotomic_field
from mirrormata.constructions.algebra._householder import gh_factor
from mirrormata.constructions.algebra._matrices import divide
from mirrormata.constructions.certificates._table import lrnn_from_certificate
from mirrormata.constructions.heads._layered import HeadRule, Label, assemble_layers
from mirrormata.constructions.theorems.dp_t7 import dihedral_two_layers
from mirrormata.constructions.theorems.g_t6 import cyclic_corners, cyclic_two_layers
from mirrormata.constructions.theorems.own_t2tight import ripple_counter
from mirrormata.foundation._errors import LimitError, MirrormataError, NotRealisableError
from mirrormata.tests.constructions.random_automata import random_words
from mirrormata.tests.constructions.two_layer_oracles import (
    angular_two_layer_rule,
    dihedral_two_layer_rule,
    integer_two_layer_rule,
    ripple_rule,
)
from mirrormata.tests.theory.certificate_simulation import CertificateSimulation
from mirrormata.tests.theory.corruption import corrupted, leaves, replaced, value_at
from mirrormata.theory._check import check
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.running._run import run
from mirrormata.theory.running._stepper import LayeredStepper

Product = Literal["left", "right"]
Rule = Callable[[int, Iterable[int]], Iterator[int]]
BUILDERS: dict[str, tuple[Callable[..., LRNN], Rule, str]] = {
    "planes": (cyclic_two_layers, angular_two_layer_rule, "G.T6"),
    "corners": (cyclic_corners, integer_two_layer_rule, "G.T6"),
    "ripple": (ripple_counter, ripple_rule, "own.T2tight"),
}
FAMILIES = ("mod:{}", "Z{}", "cycle:{}")
EARLY = (2, 3, 4, 7, 12)


@cache
def made(spec: str, form: str) -> LRNN:
    return BUILDERS[form][0](automaton_from_spec(spec))


@cache
def dihedral(m: int, product: Product) -> LRNN:
    return dihedral_two_layers(automaton_from_spec(f"dihedral:{m}", product=product))


def sizes(early: Iterable[int], all_of: Iterable[int]) -> list[Any]:
    """The early ones in the default run, the others long."""
    first = tuple(early)
    return [m if m in first else pytest.param(m, marks=pytest.mark.long) for m in all_of]


def exact_states(
    lrnn: LRNN, words: np.ndarray[Any, np.dtype[np.int64]], row: int = 0
) -> np.ndarray[Any, Any]:
    """What the LRNN says after each letter, factor by factor in exact numbers."""
    stepper = LayeredStepper(lrnn, "exact", row)
    states = stepper.initial(len(words))
    said = np.empty_like(words)
    for t in range(words.shape[1]):
        states = stepper.step(states, words[:, t])
        said[:, t] = stepper.decode(states, words[:, t])
    return said


def right_in_every_dtype(lrnn: LRNN, certificate: dict[str, Any], length: int = 300) -> None:
    """Integer forms always, the others up to the certified horizon, in steps of single tokens."""
    lengths = certificate.get("horizon", {}).get("lengths", {})
    for dtype in INTEGER_RANGES:
        certain = length if dtype in lrnn.formats else min(lengths.get(dtype) or 0, length)
        if certain:
            words = random_words(lrnn.automaton, certain, 4, certain)
            assert run(lrnn, words, dtype=dtype).errors == 0, dtype


@pytest.mark.parametrize("form", BUILDERS)
@pytest.mark.parametrize("m", sizes(EARLY, range(2, 41)))
def test_cyclic(m: int, form: str) -> None:
    build, rule, theorem = BUILDERS[form]
    for family in FAMILIES:
        spec = family.format(m)
        if form == "ripple" and (m < 4 or m & (m - 1)):
            with pytest.raises(NotRealisableError, match=r"order 2\^L ≥ 4") as refusal:
                build(automaton_from_spec(spec))
            assert "\n" not in str(refusal.value)
            continue
        lrnn = made(spec, form)
        integer = form != "planes" or m == 2
        assert (lrnn.exactness, lrnn.norm, lrnn.theorem) == (
            "integer" if integer else "algebraic",
            "at most 1",
            theorem,
        )
        assert len(lrnn.layers) == (m.bit_length() - 1 if form == "ripple" else 2)
        if form == "corners":
            assert (lrnn.householders or 0) <= m // 2
        else:
            assert lrnn.householders == 1
        document = full_certificate(lrnn)
        result = check(document)
        assert (result.verdict, result.kind) == ("valid", "table" if integer else "horizon"), result.reason
        words = random_words(lrnn.automaton, m, 4, 80)
        weights = [int(str(x)) for x in lrnn.automaton.letters]
        states = [int(str(q)) for q in lrnn.automaton.states]
        for word, said in zip(words.tolist(), exact_states(lrnn, words).tolist(), strict=True):
            assert [states[q] for q in said] == list(rule(m, [weights[x] % m for x in word]))
        right_in_every_dtype(lrnn, document, 120)


@pytest.mark.parametrize("form", BUILDERS)
@pytest.mark.parametrize("spec", ["mod:8", "Z4"])
def test_every_start(spec: str, form: str) -> None:
    lrnn = made(spec, form)
    words = random_words(lrnn.automaton, 0, 3, 60)
    for start in range(len(lrnn.automaton.states)):
        right = lrnn.automaton.trace(words, start)
        assert np.array_equal(exact_states(lrnn, words, lrnn.initial_code(start)), right)
        for dtype in ("exact", *lrnn.formats):
            assert run(lrnn, words, dtype=dtype, start=start).errors == 0


def inverse(m: int, element: str) -> str:
    return f"r{-int(element[1:]) % m}" if element[0] == "r" else element


@pytest.mark.parametrize("product", ["left", "right"])
@pytest.mark.parametrize("m", sizes((3, 4, 5), range(3, 13)))
def test_dihedral(m: int, product: Product) -> None:
    """The oracle gives right products; a left product is the inverse of the right product of the inverses."""
    lrnn = dihedral(m, product)
    assert (len(lrnn.layers), lrnn.householders, lrnn.heads, lrnn.dim) == (2, 1, 2, 2)
    assert (lrnn.exactness, lrnn.norm, lrnn.theorem) == ("algebraic", "at most 1", "DP.T7")
    document = full_certificate(lrnn)
    result = check(document)
    assert (result.verdict, result.kind) == ("valid", "horizon")
    words = random_words(lrnn.automaton, m, 4, 100)
    letters, states = lrnn.automaton.letters, lrnn.automaton.states
    for word, said in zip(words.tolist(), exact_states(lrnn, words).tolist(), strict=True):
        spelt = [str(letters[x]) for x in word]
        if product == "right":
            right = list(dihedral_two_layer_rule(m, spelt))
        else:
            right = [inverse(m, y) for y in dihedral_two_layer_rule(m, [inverse(m, x) for x in spelt])]
        assert [states[q] for q in said] == right
    right_in_every_dtype(lrnn, document, 100)


@pytest.mark.parametrize("product", ["left", "right"])
def test_symmetric_group_of_three(product: Product) -> None:
    lrnn = dihedral_two_layers(automaton_from_spec("S3", product=product))
    assert check(lrnn).verdict == "valid"
    words = random_words(lrnn.automaton, 3, 4, 100)
    permutations = lrnn.automaton.states
    for word, said in zip(words.tolist(), exact_states(lrnn, words).tolist(), strict=True):
        y: tuple[int, ...] = (0, 1, 2)
        for x, q in zip(word, said, strict=True):
            g: Any = lrnn.automaton.letters[x]
            first, then = (y, g) if product == "left" else (g, y)
            y = tuple(then[first[i]] for i in range(3))
            assert permutations[q] == y


@pytest.mark.parametrize("spec", ["S4", "mod:7", "T3", "Z2^2", "flipflop", "parity"])
def test_no_dihedral_group(spec: str) -> None:
    with pytest.raises(NotRealisableError, match=r"needs a dihedral transition group D_m, m ≥ 3"):
        dihedral_two_layers(automaton_from_spec(spec))


@pytest.mark.parametrize("spec", ["S3", "Z2^2", "T3", "flipflop", "mod:1"])
def test_no_cyclic_group(spec: str) -> None:
    for build in (cyclic_two_layers, cyclic_corners, ripple_counter):
        with pytest.raises(NotRealisableError) as refusal:
            build(automaton_from_spec(spec))
        assert "\n" not in str(refusal.value)


def test_a_field_beyond_the_limit() -> None:
    with pytest.raises(LimitError, match="`max_degree`"):
        cyclic_two_layers(automaton_from_spec("mod:211"), max_degree=100)
    assert cyclic_two_layers(automaton_from_spec("mod:211")).householders == 1
    assert cyclic_corners(automaton_from_spec("mod:211")).householders == 105


def printed_angles(m: int) -> LRNN:
    """DP.T7 with the angles of the reflections exchanged, as printed, by the rules of the construction."""
    automaton = automaton_from_spec(f"dihedral:{m}", product="right")
    field = real_cyclotomic_field(4 * m)
    one, flip = ((0, 0, 1),), Transition((gh_factor(2, {0: 1}),), additive=((0, 0, 1),))
    elements = [(str(x)[0], int(str(x)[1:])) for x in automaton.letters]

    def mirror(label: Label) -> Transition:
        (kind, i), p, _ = label
        k = ((1 - 2 * i) if p else (1 + 2 * i)) if kind == "r" else ((2 + 2 * i) if not p else -2 * i)
        if k % (2 * m) == m:
            return Transition((gh_factor(2, {0: 1}),))
        c, s = field.cos(2 * (k % (2 * m))), field.sin(2 * (k % (2 * m)))
        v = {0: -s, 1: 1 + c}
        return Transition((gh_factor(divide(2, v[0] * v[0] + v[1] * v[1]), v),))

    parities = [
        HeadRule(1, (), lambda x, kind=kind: flip if elements[x][0] == kind else Transition())  # type: ignore[misc]
        for kind in "rs"
    ]
    return assemble_layers(
        automaton,
        [parities, [HeadRule(2, one, mirror)]],
        lambda _, x, states: (elements[x], int(states[0] == one), int(states[1] == one)),
        theorem="DP.T7",
        construction="as printed",
    )


@pytest.mark.parametrize("m", [3, 5, 6])
def test_printed_angles_are_refused(m: int) -> None:
    with pytest.raises(MirrormataError, match="a defect of this program"):
        printed_angles(m)


def test_reflections_with_exchanged_parities_are_invalid() -> None:
    """The certificate with the printed angles: for a reflection the parity of rotations is told wrongly."""
    document = full_certificate(dihedral(3, "right"))
    following = document["layers"][0]["next"]
    for x, name in enumerate(document["labels"]["letters"]):
        if name[0] == "s":
            width = len(following[x]) // 2
            assert document["layers"][0]["reads"][x] == [0, 1]
            following[x] = following[x][width:] + following[x][:width]
    assert check(document).verdict == "invalid"


CORRUPTED: dict[str, Callable[[], LRNN]] = {
    "mod:5, planes": lambda: made("mod:5", "planes"),
    "Z4, planes": lambda: made("Z4", "planes"),
    "Z6, corners": lambda: made("Z6", "corners"),
    "cycle:8, ripple": lambda: made("cycle:8", "ripple"),
    "dihedral:3": lambda: dihedral(3, "left"),
    "dihedral:4, right": lambda: dihedral(4, "right"),
}


@pytest.mark.parametrize("name", CORRUPTED)
@pytest.mark.parametrize("count", [200, pytest.param(2000, marks=pytest.mark.long)])
def test_corruptions_are_noticed(name: str, count: int) -> None:
    document = full_certificate(CORRUPTED[name]())
    assert check(document).verdict == "valid"
    places = leaves(document)
    draw = random.Random(f"{name} {count}")
    for _ in range(count):
        path = draw.choice(places)
        value = corrupted(value_at(document, path), draw)
        assert check(replaced(document, path, value)).verdict == "invalid", (path, value)


@pytest.mark.parametrize(("spec", "form"), [("Z6", "corners"), ("mod:16", "ripple"), ("Z2", "planes")])
def test_certificates_by_plain_python(spec: str, form: str) -> None:
    """The JSON alone, read anew, says the same as the automaton; and gives the same LRNN back."""
    lrnn = made(spec, form)
    document = full_certificate(lrnn)
    simulation = CertificateSimulation(document)
    words = random_words(lrnn.automaton, 5, 5, 80)
    right = lrnn.automaton.trace(words)
    for word, states in zip(words.tolist(), right.tolist(), strict=True):
        assert simulation.states(word) == states
    again = lrnn_from_certificate(document)
    assert run(again, words, dtype="bf16").errors == 0
    assert full_certificate(again) == document
