"""own.blocks and R7: chains of sets over blocks of tokens, by an oracle that applies the factors, by search, and by their checker."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from mirrormata import check, construct, prove, random_words, run
from mirrormata.constructions._construct import realisations_of
from mirrormata.constructions._realisation import Transition, realisation_from_certificate
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.chains._block_steps import block_words, compose_letters, list_maps
from mirrormata.constructions.chains._blocks import BlockRNN, block_length
from mirrormata.constructions.chains._sizes import plan_sizes
from mirrormata.constructions.theorems._block_delay import ripple_counter, rotation_counter
from mirrormata.constructions.theorems._blocks import budgets_below, plan_block_sizes
from mirrormata.constructions.theorems._construction import Limits, Problem
from mirrormata.foundation._errors import InputError, LimitError, NotRealisableError
from mirrormata.tests.theory.corruption import corrupted, leaves, replaced, structural, value_at
from mirrormata.theory import checker
from mirrormata.theory.base._blocks import WORDS
from mirrormata.theory.running._blocks import BlockStepper
from mirrormata.theory.running._run import track

Maps = list[list[int]]


def random_automaton(n: int, k: int, seed: int, *, identity: bool = False, mealy: bool = False) -> Automaton:
    """Uniform maps; with `identity` the last letter moves nothing; unreachable states are kept."""
    generator = np.random.default_rng([n, k, seed])
    transitions = generator.integers(0, n, (k, n))
    if identity:
        transitions[-1] = np.arange(n)
    outputs = generator.integers(0, 2, (k, n) if mealy else n).astype(object)
    return Automaton(
        tuple(range(n)), tuple(f"x{i}" for i in range(k)), transitions, int(generator.integers(n)), outputs,
        keeps_points=True,
    )  # fmt: skip


def forms_of(automaton: Automaton) -> list[BlockRNN]:
    """Every form on offer, those with sizes that fall by one, and the shortest blocks."""
    found: list[Any] = []
    for theorem, limits in (("own.blocks", None), ("own.blocks", Limits(chains=0)), ("R7", None)):
        try:
            found += realisations_of(Problem(automaton, limits), theorem)
        except NotRealisableError:  # one layer has one factor
            continue
    assert all(isinstance(form, BlockRNN) for form in found)
    sizes = tuple(range(len(automaton.states), 0, -1))
    # all factors of a block in one token, or in two
    return [*found, *(BlockRNN(automaton, sizes, ripple_counter(period)) for period in (2, 4))]


CASES = [
    (2, 2, 1),
    (2, 3, 0),
    (3, 2, 0),
    (3, 2, 1),
    (3, 3, 2),
    (4, 2, 0),
    (4, 3, 1),
    (5, 2, 2),
    (6, 2, 0),
    (7, 3, 1),
]
NAMED = ["T3", "tomita:4", "even_pairs", "permreset:4", "S3", "regex:(a|b)*a(a|b)(a|b)"]


@pytest.fixture(params=[*CASES, *NAMED], ids=str)
def automaton(request: pytest.FixtureRequest) -> Automaton:
    if isinstance(request.param, str):
        return automaton_from_spec(request.param)
    n, k, seed = request.param
    return random_automaton(n, k, seed, identity=seed == 1)


def apply(transition: Transition, H: list[list[Any]]) -> list[list[Any]]:
    """A token's factors, one after another, and what is added; a mask says which entries of H a factor reads."""
    H = [row.copy() for row in H]
    for factor in transition.factors:
        assert factor.mask is not None or factor.beta * factor.norm_squared in (1, 2)
        read = [(i, v) for i, v in factor.vector if factor.mask is None or i in factor.mask]
        dots = [sum(cast("int", v) * H[i][c] for i, v in read) for c in range(len(H[0]))]
        for i, v in factor.vector:
            for c, dot in enumerate(dots):
                H[i][c] -= cast("int", v) * cast("int", factor.beta) * dot
    for i, c, value in transition.additive:
        H[i][c] += cast("int", value)
    return H


def sets_after(form: BlockRNN, blocks: list[list[int]]) -> Iterator[list[list[int]]]:
    """The sets X_1, X_2, ..., {q} at first and after each block, by the words of `theory/checker/chain.py`, with Python's sets."""
    delta, n, q0 = form.automaton.transitions.tolist(), len(form.automaton.states), form.automaton.start

    def top(letters: list[int]) -> list[int]:
        if form.window is None:
            return list(range(n))
        last = letters[len(letters) - form.window :] if len(letters) >= form.window else letters
        now = set(range(n)) if len(letters) >= form.window else {q0}
        for x in last:
            now = {delta[x][q] for q in now}
        return [*sorted(now), *range(n, n + form.sizes[0] - len(now))]

    chain = [top([])]
    for size in form.sizes[1:]:
        chain.append(sorted([q0, *[x for x in chain[-1] if x != q0][: size - 1]]))
    yield chain
    letters: list[int] = []
    for block in blocks:
        letters = letters + block
        image = list(range(n))
        for x in block:
            image = [delta[x][q] for q in image]
        new = [top(letters)]
        for i, size in enumerate(form.sizes[1:]):
            old, above = chain[i], new[i]
            real = [q for q in old if q < n]
            images = {image[q] for q in real}
            if form.copies:
                new.append([image[chain[1][0]]])
            elif len(images) == len(real):
                left = iter([x for x in above if x not in images])
                to = {q: image[q] for q in real} | {q: next(left) for q in old if q >= n}
                new.append(sorted(to[x] for x in chain[i + 1]))
            else:
                others = [x for x in above if x not in images]
                new.append(sorted([*images, *others[: size - len(images)]]))
        chain = new
        yield chain


def test_the_factors_follow_the_sets(automaton: Automaton) -> None:
    """At the end of each block every level holds the sets of one block before, and the letters since then give the state."""
    draw = np.random.default_rng(1)
    delta = automaton.transitions.tolist()
    for form in forms_of(automaton):
        m, counting = form.block, len(form.counter.layers)
        word = draw.integers(0, len(automaton.letters), 9 * m + 1).tolist()
        blocks = [word[i * m : (i + 1) * m] for i in range(9)]
        chains = list(sets_after(form, blocks))
        levels = []
        for i, dim in enumerate(form.level_dims):
            u = [int(x in chains[0][i + 1]) for x in chains[0][i]]
            levels.append([[x] for x in u + [0] * (dim - len(u))])
        buffer = [[0] * form.chain.bits.shape[1] for _ in range(form.period)]
        counters = [[[[x] for x in head.codes[0]] for head in layer.heads] for layer in form.counter.layers]
        q = automaton.start
        for t, (x, token) in enumerate(
            zip(word, form.transitions_of([automaton.letters[x] for x in word]), strict=True), start=1
        ):
            assert [len(layer) for layer in token] == [*map(len, counters), 1, *[1] * form.levels]
            for layer, most in zip(token, form.layer_factors, strict=True):
                assert all(len(transition.factors) <= most for transition in layer)
            q = delta[x][q]
            if form.exactness == "integer":
                counters = [
                    [apply(transition, H) for transition, H in zip(layer, heads, strict=True)]
                    for layer, heads in zip(token, counters, strict=False)
                ]
                codes = [[tuple(x for (x,) in H) for H in heads] for heads in counters]
                assert codes == [
                    [head.codes[head.code_at[t % form.period]] for head in layer.heads]
                    for layer in form.counter.layers
                ]
            buffer = apply(token[counting][0], buffer)
            assert buffer[t % form.period] == form.chain.bits[x].tolist()
            for i in range(form.levels):
                levels[i] = apply(token[counting + 1 + i][0], levels[i])
                assert {x for (x,) in levels[i]} <= {0, 1}
            if t % m == 0:
                before = chains[t // m - 1]
                for i, size in enumerate(form.sizes[:-1]):
                    assert [x for (x,) in levels[i]][:size] == [int(x in before[i + 1]) for x in before[i]]
                # the block itself is in the buffer
                (state,) = before[-1]
                for letter in word[t - m : t]:
                    state = delta[letter][state]
                assert state == q


def test_the_chain_ends_with_the_state(automaton: Automaton) -> None:
    """Of the oracle itself: the last set of every chain is the automaton's state."""
    draw = np.random.default_rng(2)
    for form in forms_of(automaton):
        blocks = draw.integers(0, len(automaton.letters), (6, form.block)).tolist()
        word = [x for block in blocks for x in block]
        trace = [automaton.start, *automaton.trace(np.array([word]))[0].tolist()]
        assert [chain[-1] for chain in sets_after(form, blocks)] == [
            [trace[i * form.block]] for i in range(7)
        ]


def test_run_prove_and_check(automaton: Automaton) -> None:
    for form in forms_of(automaton):
        assert check(form).verdict == "valid"
        words = random_words(automaton, 5, 9 * form.block + 40, 0)
        dtype = (form.formats or ("fp64",))[-1]
        whole = run(form, words, dtype=dtype)
        alone = run(form, words, dtype=dtype, sequential=True)
        assert (whole.errors, whole.tokens, alone.errors) == (0, words.size, 0)
        if form.exactness == "integer":
            for arithmetic in ("exact", "per_step:fp8_e5m2"):
                proof = prove(form, automaton, arithmetic)
                assert (proof.verdict, proof.method, proof.checked) == ("equivalent", "blocks", "certificate")


@pytest.mark.parametrize("spec", ["flipflop", "tomita:4", "even_pairs", "regex:(a|b)*a(a|b)"])
def test_every_state_of_the_layers_by_search(spec: str) -> None:
    """The search of `prove` knows nothing of the rule."""
    for form in realisations_of(Problem(automaton_from_spec(spec)), "own.blocks"):
        found = prove(form, form.automaton, "per_step:bf16", method="states", max_states=60_000)
        assert found.verdict in ("equivalent", "unknown"), found
        assert found.verdict == "equivalent" or cast("BlockRNN", form).period > 8


def test_a_word_of_any_length_and_its_parts() -> None:
    """Parts of a run do not begin at blocks; a word shorter than a block has no factors in the levels."""
    form = construct("T3", max_householders=1)
    assert isinstance(form, BlockRNN)
    for length in (1, form.block - 1, form.block, form.block + 1, 2 * form.period + 3):
        assert run(form, random_words(form, 3, length, length), dtype="bf16").errors == 0
    from mirrormata.theory.running import _blocks

    words, size = random_words(form, 3, 100, 5), _blocks.PART_ENTRIES
    try:
        _blocks.PART_ENTRIES = 32 * 3 * 7
        assert run(form, words, dtype="bf16").errors == 0
    finally:
        _blocks.PART_ENTRIES = size


SPECS = [
    "T3", "T4", "tomita:3", "tomita:4", "tomita:7", "mod_arith:2", "even_pairs", "flipflop", "permreset:5", "S3", "mod:7",
    *(f"random:states=6,letters=2,seed={seed}" for seed in range(10)),
]  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
def test_any_number_of_factors(spec: str) -> None:
    most = construct(spec).householders
    assert most is not None
    for k in range(1, most + 1):
        found = construct(spec, max_householders=k)
        assert found.householders is not None
        assert found.householders <= k
        assert found.norm == "at most 1"
        assert check(found).verdict == "valid"
        dtype = "bf16" if found.formats else "fp64"
        assert run(found, random_words(found, 4, 500, k), dtype=dtype).errors == 0


def test_figures_that_theory_gives() -> None:
    """Layers: log2 of the counter's period, the ring buffer, the levels; R7's four layers with one factor."""
    found = construct("T3", max_householders=1)
    assert (found.depth, found.layer_factors, found.theorem) == (4 + 1 + 2, (1,) * 7, "own.blocks")
    for spec in ("T4", "tomita:3", "mod_arith:3", "random:states=9,letters=3,seed=1"):
        four = construct(spec, theorem="R7", max_householders=1)
        assert (four.depth, four.householders, four.norm) == (4, 1, "at most √2 a factor")
        assert construct(spec, theorem="R7", max_householders=1, exactness="integer").formats
    group = construct("S4", theorem="R7", max_householders=1)
    assert group.norm == "at most 1"


def test_definite_automata_have_no_levels() -> None:
    one, two = realisations_of(Problem(automaton_from_spec("regex:(a|b)*a(a|b)(a|b)")), "own.blocks")
    form = next(form for form in (one, two) if form.householders == 1)
    assert isinstance(form, BlockRNN)
    assert (form.levels, form.depth, form.window) == (0, 4, 3)
    assert "which tell the state" in form.show()
    assert check(form).verdict == "valid"


def test_mealy_machines_and_unreachable_states() -> None:
    for seed in range(4):
        automaton = random_automaton(5, 2, seed, mealy=True)
        for form in forms_of(automaton):
            assert check(form).verdict == "valid"
            assert (
                run(form, random_words(automaton, 3, 80, 0), dtype=(form.formats or ("fp64",))[0]).errors == 0
            )


def test_a_larger_automaton() -> None:
    form = construct("random:states=60,letters=3,seed=1", theorem="own.blocks", max_householders=1)
    assert isinstance(form, BlockRNN)
    assert form.window is not None
    assert check(form).verdict == "valid"
    assert run(form, random_words(form, 2, 300, 1), dtype="bf16").errors == 0
    with pytest.raises(LimitError, match="transitions_of"):
        form.transitions(form.automaton.letters[0])
    assert next(form.transitions_of([form.automaton.letters[0]]))


def test_a_group_too_large_to_list() -> None:
    """S_20 by two generators: block delay has no certificate, the chain over blocks has one level and a small one."""
    n = 20
    rows = np.array([[*range(1, n), 0], [1, 0, *range(2, n)]])
    automaton = Automaton(tuple(range(n)), ("r", "s"), rows, 0, np.arange(n).astype(object))
    form = construct(automaton, theorem="own.blocks", max_householders=1)
    assert check(form).verdict == "valid"
    assert run(form, random_words(automaton, 3, 300, 0), dtype="fp8_e4m3").errors == 0


def test_what_is_listed_is_all_that_happens() -> None:
    for spec, theorem in (("T3", "own.blocks"), ("tomita:4", "own.blocks"), ("T3", "R7")):
        for form in realisations_of(Problem(automaton_from_spec(spec)), theorem):
            assert isinstance(form, BlockRNN)
            listed = {letter: form.transitions(letter) for letter in form.automaton.letters}
            draw = np.random.default_rng(3)
            word = [form.automaton.letters[x] for x in draw.integers(0, len(listed), 12 * form.block)]
            for letter, token in zip(word, form.transitions_of(word), strict=True):
                for layer, found in zip(listed[letter], token, strict=True):
                    assert all(t in head for head, t in zip(layer, found, strict=True))


def test_letters_of_no_automaton() -> None:
    form = construct("T3", max_householders=1)
    for attempt in (
        lambda: form.transitions("no"),
        lambda: list(cast("BlockRNN", form).transitions_of(["no"])),
    ):
        with pytest.raises(InputError, match="no"):
            attempt()
    with pytest.raises(InputError, match=r"`dtype` exact nor `start`"):
        run(form, random_words(form, 1, 3, 0), dtype="exact", start=1)


@pytest.mark.parametrize("part", ["counters", "buffer", "levels"])
def test_what_no_layer_can_hold_is_noticed(part: str) -> None:
    """From a wrong state the run goes on, and says -1 or a wrong state, but never nothing."""
    form = construct("T3", max_householders=1)
    assert isinstance(form, BlockRNN)
    stepper = BlockStepper(form, "bf16")
    words = random_words(form, 1, 60, 1)
    states = stepper.initial(1)
    for x in words[0, :20]:
        states = stepper.step(states, np.array([x]))
    broken = getattr(states, part)
    for H in broken if isinstance(broken, tuple) else (broken,):
        H += 1
    named = []
    for x in words[0, 20:]:
        states = stepper.step(states, np.array([x]))
        named.append(int(stepper.decode(states)[0]))
    assert named != form.automaton.trace(words)[0, 20:].tolist()


def test_lengths_of_blocks() -> None:
    """The largest divisor that leaves room; in shorter blocks a token has more factors."""
    form = construct("T3", theorem="R7", exactness="integer")
    assert isinstance(form, BlockRNN)
    assert block_length(8, None) == 4
    assert block_length(8, 1) == 2
    assert block_length(6, 5) == 0
    short = BlockRNN(form.automaton, (3, 1), ripple_counter(2), copies=True)
    assert (short.block, short.budget) == (1, 2)
    assert check(short).verdict == "valid"
    assert track(BlockStepper(short, "bf16"), form.automaton, random_words(form, 3, 50, 0)).errors == 0


def automaton_of(rows: Any) -> Automaton:
    """Letters a and b with these maps; unreachable states are kept."""
    n = rows.shape[1]
    return Automaton(tuple(range(n)), ("a", "b"), rows, 0, np.arange(n).astype(object), keeps_points=True)


def test_sizes_hold_for_words() -> None:
    """The sizes of single letters can be too small for words of them."""
    draw = np.random.default_rng(0)
    for _ in range(30):
        rows = draw.integers(0, 5, (2, 5))
        sizes = plan_block_sizes(rows, 0, 1_000)
        automaton = automaton_of(rows)
        for counter in (ripple_counter(8), rotation_counter(4)):
            form = BlockRNN(automaton, sizes, counter)
            assert check(form).verdict == "valid"
            assert run(form, random_words(automaton, 4, 100, 0), dtype="bf16").errors == 0
    assert plan_block_sizes(rows, 0, 0) == (5, 4, 3, 2, 1)
    rows = np.array(WORDS)
    assert (plan_sizes(rows, [0]), plan_block_sizes(rows, 0, 500)) == ((4, 3, 1), (4, 3, 2, 1))
    short = BlockRNN(automaton_of(rows), (4, 3, 1), ripple_counter(16))
    assert run(short, random_words(short, 8, 500, 0), dtype="bf16").errors > 0


def test_maps_and_words_are_all_of_them() -> None:
    rows = np.array([[1, 2, 0], [1, 0, 2], [0, 0, 2]])
    maps = list_maps(rows, 27)
    assert maps is not None
    assert {tuple(image) for image in maps.tolist()} == set(itertools.product(range(3), repeat=3))
    assert list_maps(rows, 26) is None
    for length, tail in ((1, 0), (3, 0), (3, 2), (4, 1)):
        words = block_words(rows, length, tail, 500)
        assert words is not None

        def kind(word: tuple[int, ...], tail: int = tail) -> tuple[Any, ...]:
            return (*compose_letters(rows, np.array([word]))[0].tolist(), *word[len(word) - tail :])

        every = {kind(word) for word in itertools.product(range(3), repeat=length)}
        assert {kind(tuple(word)) for word in words.tolist()} == every
        assert len(words) == len(every)
    assert block_words(rows, 4, 4, 80) is None
    assert budgets_below(13) == [1, 2, 3, 4, 6, 8, 12]


def document(spec: str, theorem: str, **asked: Any) -> dict[str, Any]:
    """A certificate as read back from JSON."""
    found: dict[str, Any] = json.loads(json.dumps(construct(spec, theorem=theorem, **asked).certificate()))
    return found


def test_the_checker_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "blocks.json"
    path.write_text(json.dumps(document("tomita:4", "own.blocks", max_householders=1)))
    program = Path(checker.__file__).parent / "blocks.py"
    done = subprocess.run([sys.executable, "-I", program, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "valid")


WINDOW, CHAIN, COPIES = ("tomita:7", "own.blocks"), ("mod_arith:3", "own.blocks"), ("tomita:7", "R7")
WRONG: list[tuple[tuple[str, str], Callable[[dict[str, Any]], object], str]] = [
    (CHAIN, lambda d: d["sizes"].pop(1), "sizes"),
    (CHAIN, lambda d: d["sizes"].reverse(), "sizes"),
    (CHAIN, lambda d: d["sizes"].append(1), "sizes"),
    (CHAIN, lambda d: d.update(sizes=[19, 1]), "sizes"),
    (CHAIN, lambda d: d.update(sizes=[]), "sizes"),
    (CHAIN, lambda d: d.update(window=2), "block"),
    (CHAIN, lambda d: d.update(padding="most"), "padding"),
    (CHAIN, lambda d: d.update(steps="swaps"), "steps"),
    (CHAIN, lambda d: d.update(steps="swaps and copies"), "sizes"),
    (CHAIN, lambda d: d.update(block=d["block"] - 1), "block"),
    (CHAIN, lambda d: d.update(block=True), "block"),
    (CHAIN, lambda d: d["counter"].pop(), "counter"),
    (CHAIN, lambda d: d.update(counter=[]), "counter"),
    (CHAIN, lambda d: d["summary"].update(layers=2), "summary.layers"),
    (CHAIN, lambda d: d["summary"].update(householders=3), "summary.householders"),
    (CHAIN, lambda d: d["summary"].update(norm="at most √2 a factor"), "summary.norm"),
    (WINDOW, lambda d: d.update(window=d["window"] + 1), "window"),
    (WINDOW, lambda d: d.update(window=None), "block"),
    (WINDOW, lambda d: d.update(window=0), "window"),
    (WINDOW, lambda d: d["sizes"].pop(0), "window"),
    (WINDOW, lambda d: d["sizes"].pop(1), "sizes"),
    (WINDOW, lambda d: d.update(window=10**40), "window"),
    (WINDOW, lambda d: d.update(window=True), "window"),
    (WINDOW, lambda d: d["automaton"]["transitions"].__setitem__(0, [0, 1, 2, 3, 4]), "window"),
    (COPIES, lambda d: d.update(sizes=[5, 4, 3, 2, 1]), "sizes"),
    (COPIES, lambda d: d.update(window=1), "block"),
    (COPIES, lambda d: d.update(steps="swaps and projections"), "sizes"),
    (COPIES, lambda d: d["summary"].update(norm="at most 1"), "summary.norm"),
]


@pytest.mark.parametrize(("which", "change", "reason"), WRONG)
def test_wrong_certificates(
    which: tuple[str, str], change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    wrong = document(*which, max_householders=2)
    assert check(wrong).verdict == "valid"
    change(wrong)
    found = check(wrong)
    assert found.verdict == "invalid"
    assert reason in found.reason, found.reason


@pytest.mark.parametrize("which", [("T3", "own.blocks"), WINDOW, COPIES])
def test_no_change_but_that_of_the_automaton_is_accepted(which: tuple[str, str]) -> None:
    """Sizes may fall more slowly than planned: that is another certificate, and a valid one."""
    right, draw = document(*which, max_householders=2), random.Random(5)
    for path in leaves(right):
        if path[:2] in (("automaton", "transitions"), ("automaton", "outputs"), ("automaton", "start")):
            continue
        for _ in range(12):
            value = corrupted(value_at(right, path), draw)
            assert check(replaced(right, path, value)).verdict == "invalid", (path, value)
    for what, path, changed in structural(right):
        if path[:2] not in (("automaton", "transitions"), ("automaton", "outputs")):
            assert check(changed).verdict == "invalid", (what, path)


@pytest.mark.parametrize("which", [("mod_arith:2", "own.blocks"), WINDOW, COPIES])
def test_what_is_accepted_follows_the_automaton_in_its_certificate(which: tuple[str, str]) -> None:
    right, draw = document(*which, max_householders=2), random.Random(6)
    places = [
        p
        for p in leaves(right)
        if p[:2] == ("automaton", "transitions") or p[0] in ("sizes", "window", "block")
    ]
    n, accepted = right["automaton"]["states"], 0
    for _ in range(60):
        changed = replaced(right, draw.choice(places), draw.randrange(n))
        if changed != right and check(changed).verdict == "valid":
            accepted += 1
            found = realisation_from_certificate(changed)
            dtype = (found.formats or ("fp64",))[-1]
            assert run(found, random_words(found, 4, 100, seed=1), dtype=dtype).errors == 0
    assert accepted


def test_certificates_that_cannot_be_read() -> None:
    right = document("T3", "own.blocks")
    changes: list[dict[str, Any]] = [
        {"sizes": [1, 3]}, {"counter": []}, {"block": 1}, {"window": 100}, {"sizes": [2, 1]},
    ]  # fmt: skip
    for change in changes:
        with pytest.raises(InputError, match="malformed"):
            realisation_from_certificate({**right, **change})


@pytest.mark.parametrize(
    ("spec", "theorem", "reason"),
    [
        ("mod:1", "own.blocks", "one state needs no chain"),
        ("parity", "own.blocks", "own.chain has 1 factor a token"),
        ("parity", "R7", "DP.T6 has 1 factor a token, in one layer"),
        ("flipflop", "R7", "DP.T6 has 1 factor a token, in one layer"),
    ],
)
def test_refusals(spec: str, theorem: str, reason: str) -> None:
    with pytest.raises(NotRealisableError, match=f"^{spec}: {theorem}: {reason}"):
        construct(spec, theorem=theorem)


def test_letters_that_act_alike() -> None:
    """What is built for one of each is spread over all: they share their bits, and the certificate names them all."""
    one = automaton_from_spec("tomita:7")
    more = Automaton(one.states, ("0", "1", "2"), one.transitions[[0, 1, 0]], one.start, one.outputs, "twice")
    form = construct(more, max_householders=1)
    assert isinstance(form, BlockRNN)
    assert form.automaton.letters == ("0", "1", "2")
    assert form.value_dim == 2
    assert form.buffer_transition(0, 2) == form.buffer_transition(0, 0) != form.buffer_transition(0, 1)
    assert check(form).verdict == "valid"
    assert run(form, random_words(more, 4, 300, 0), dtype="bf16").errors == 0
