"""own.chain, own.window and own.lookback: the rule, its sizes, its factors, and what the checker of kind `chain` makes of certificates."""

from __future__ import annotations

import copy
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from mirrormata import InputError, check, construct, prove, random_words, run
from mirrormata.constructions._construct import realisations_of
from mirrormata.constructions._realisation import Transition
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.chains._chain import ChainRNN
from mirrormata.constructions.chains._rule import split_permutations
from mirrormata.constructions.chains._sizes import Window, find_windows, plan_sizes
from mirrormata.constructions.theorems._construction import Limits, Problem
from mirrormata.foundation._errors import LimitError, NotRealisableError
from mirrormata.theory import checker
from mirrormata.theory.checker.chain import check as check_chain
from mirrormata.theory.running._chain import ChainStepper


def random_automaton(n: int, k: int, seed: int, *, identity: bool = False, mealy: bool = False) -> Automaton:
    """Uniform maps; with `identity` the last letter moves nothing; unreachable states are kept."""
    generator = np.random.default_rng([n, k, seed])
    transitions = generator.integers(0, n, (k, n))
    if identity:
        transitions[-1] = np.arange(n)
    shape = (k, n) if mealy else n
    outputs = generator.integers(0, 2, shape).astype(object)
    return Automaton(
        tuple(range(n)), tuple(f"x{i}" for i in range(k)), transitions, int(generator.integers(n)), outputs,
        keeps_points=True,
    )  # fmt: skip


def forms_of(automaton: Automaton) -> list[ChainRNN]:
    """With planned sizes, with sizes that fall by one, with the widest and the narrowest window; the same with look-back and gates."""
    problem = Problem(automaton)
    found = list(realisations_of(problem, "own.chain"))
    found += realisations_of(Problem(automaton, Limits(chains=0)), "own.chain")
    windows = find_windows(automaton.transitions)
    found += [
        ChainRNN(automaton, tuple(range(w.size, 0, -1)), w.length) for w in (*windows[:1], *windows[-1:])
    ]
    plain = [form for form in found if isinstance(form, ChainRNN)]
    assert len(plain) == len(found)
    reading = [form for form in plain if form.reads_before]
    return [
        *plain,
        *(replace(form, look_back=True) for form in reading),
        *(replace(form, look_back=True, gated=True) for form in reading),
    ]


CASES = [
    (2, 1, 0),
    (2, 3, 1),
    (3, 2, 0),
    (3, 2, 1),
    (4, 2, 0),
    (4, 3, 1),
    (5, 2, 2),
    (6, 2, 0),
    (7, 3, 1),
    (11, 2, 0),
]


@pytest.fixture(params=CASES, ids=str)
def automaton(request: pytest.FixtureRequest) -> Automaton:
    n, k, seed = request.param
    return random_automaton(n, k, seed, identity=seed == 1 and k > 1)


def follow_by_factors(form: ChainRNN, word: list[int]) -> Iterator[int]:
    """The states, read off layers that apply each token's `Transition` to an integer matrix, factor by factor.

    Written from the words of `theory/checker/chain.py`, with Python's integers and sets.
    """
    automaton = form.automaton
    delta, n, q0 = automaton.transitions.tolist(), len(automaton.states), automaton.start
    labels = [automaton.letters[x] for x in word]
    sizes = form.sizes
    register = [[0] * form.bits.shape[1] for _ in range(form.rows)]
    everything = list(range(n))
    top = everything if form.window is None else [q0, *range(n, n + sizes[0] - 1)]
    chain = [top]
    for size in sizes[1:]:
        others = [x for x in chain[-1] if x != q0]
        chain.append(sorted([q0, *others[: size - 1]]))
    states = []
    for i, (above, below) in enumerate(itertools.pairwise(chain)):
        u = [int(x in below) for x in above]
        states.append([[x] for x in u + [0] * (form.level_dims[i] - len(u))])

    def apply(transition: Transition, H: list[list[int]]) -> list[list[int]]:
        assert transition.gate == 1 or (form.gated and transition.gate == 0)
        H = [[x * int(cast("int", transition.gate)) for x in row] for row in H]
        for factor in transition.factors:
            if (
                transition.gate == 0
            ):  # one factor, which can write what is added: β ≤ 1/‖v‖², and 1/β is a power of two
                (only,) = transition.factors
                members = [i for i, _ in only.vector]
                assert (transition.additive, {v for _, v in only.vector}) == (
                    tuple((i, 0, 1) for i in members),
                    {1},
                )
                assert 2 * len(members) * only.beta > 1 >= len(members) * only.beta
                assert bin(Fraction(1, cast("Fraction", only.beta)).numerator).count("1") == 1
            else:
                assert factor.beta == 1
            dots = [sum(cast("int", v) * H[i][c] for i, v in factor.vector) for c in range(len(H[0]))]
            for i, v in factor.vector:
                for c, dot in enumerate(dots):
                    H[i][c] -= int(cast("int", v) * dot * cast("Fraction", factor.beta))
        for i, c, value in transition.additive:
            H[i][c] += cast("int", value)
        assert {x for row in H for x in row} <= {0, 1}
        return H

    def window_set(letters: list[int]) -> set[int]:
        assert form.window is not None
        seen = letters[: form.window]
        now = {q0} if -1 in seen else set(everything)
        for x in reversed([x for x in seen if x >= 0]):
            now = {delta[x][q] for q in now}
        return now

    def with_phantoms(members: set[int]) -> list[int]:
        return [*sorted(members), *range(n, n + sizes[0] - len(members))]

    for x, token in zip(word, form.transitions_of(labels), strict=True):
        layers = list(token)
        if form.window is not None:
            earlier = [list(row) for row in register]
            register = apply(layers.pop(0), register)
            rows = [sum(b << i for i, b in enumerate(row)) - 1 for row in register]
            moving = [a for a, row in enumerate(delta) if row != everything and delta.index(row) == a]
            letters = [moving[r] if r >= 0 else -1 for r in rows]
            if form.levels == 0:
                (state,) = window_set(letters)
                yield state
                continue
            shifted = delta[x] != everything
            if form.look_back:
                read = [sum(b << i for i, b in enumerate(row)) - 1 for row in earlier]
                old = with_phantoms(window_set([moving[r] if r >= 0 else -1 for r in read]))
            else:
                old = with_phantoms(window_set(letters[1:] if shifted else letters))
            new = with_phantoms(window_set(letters))
        else:
            old = new = everything
        for i, transition in enumerate(layers):
            held = [row[0] for row in states[i]]
            known, H = True, apply(transition, states[i])
            states[i] = H
            p = sizes[i]
            u = [H[j][0] for j in range(p)]
            real = [m for m in old if m < n]
            if form.look_back:
                assert len(H) == p == form.level_dims[i]
                before = [m for j, m in enumerate(old) if held[j]]
            elif len({delta[x][m] for m in real}) == len(real):
                place = {m: new.index(delta[x][m]) for m in real}
                rest = iter([j for j in range(p) if j not in place.values()])
                place |= {m: next(rest) for m in old if m >= n}
                before = [m for m in old if u[place[m]]]
            elif form.keeps_old(i):
                before = [m for j, m in enumerate(old) if H[p + j][0]]
            else:
                before, known = [], False  # the last level, where nobody asks
            assert not known or before == chain[i + 1]
            old, new = before, [m for j, m in enumerate(new) if u[j]]
            assert len(new) == sizes[i + 1]
            chain[i + 1] = new
        yield new[0]


def test_the_factors_follow_the_automaton(automaton: Automaton) -> None:
    generator = np.random.default_rng(1)
    word = [
        *generator.integers(0, len(automaton.letters), 60).tolist(),
        *[0] * 12,
        *[len(automaton.letters) - 1] * 12,
    ]
    for form in forms_of(automaton):
        q = automaton.start
        for x, found in zip(word, follow_by_factors(form, word), strict=True):
            q = int(automaton.transitions[x, q])
            assert found == q


def test_all_words_by_the_stepper(automaton: Automaton) -> None:
    """Every reachable state of all layers, each letter: the search of `prove`, which knows nothing of the rule."""
    from mirrormata.theory.proofs._prove import prove as search

    for form in forms_of(automaton):
        if len(automaton.states) > 6:
            continue
        kept = automaton.trim()
        own = replace(form, automaton=automaton)
        found = search(ChainStepper(own), automaton, "exact", max_states=3_000, max_trial_letters=0)
        assert found.verdict in ("equivalent", "unknown"), (form, found)
        assert kept.letters == automaton.letters


def test_run_prove_and_check(automaton: Automaton) -> None:
    for form in forms_of(automaton):
        words = random_words(automaton, 5, 80, 0)
        whole = run(form, words)
        assert (whole.errors, whole.tokens) == (0, 400)
        alone = run(form, words, dtype="exact", sequential=True)
        assert alone.errors == 0
        assert check(form).verdict == "valid"
        for arithmetic in ("exact", f"per_step:{form.formats[-1]}"):
            proof = prove(form, automaton, arithmetic)
            assert (proof.verdict, proof.method, proof.checked) == ("equivalent", "chain", "certificate")


def test_figures_bound_what_the_factors_are(automaton: Automaton) -> None:
    generator = np.random.default_rng(2)
    for form in forms_of(automaton):
        word = [automaton.letters[x] for x in generator.integers(0, len(automaton.letters), 40)]
        for token in form.transitions_of(word):
            for transition, most, dim in zip(token, form.layer_factors, form.layer_dims, strict=True):
                assert len(transition.factors) <= most
                assert all(i < dim for f in transition.factors for i, _ in f.vector)
                norms = [f.beta * f.norm_squared for f in transition.factors]
                assert all(norm in (1, 2) or (form.gated and Fraction(1, 2) < norm <= 1) for norm in norms)
                assert transition.gate == 1 or len(norms) == 1


def test_mealy_outputs_of_the_state_before() -> None:
    automaton = random_automaton(5, 2, 3, mealy=True)
    for form in forms_of(automaton):
        assert form.keeps_old(form.levels - 1) != form.look_back or form.levels == 0
        assert check(form).verdict == "valid"
        assert run(form, random_words(automaton, 3, 50, 0)).errors == 0


@pytest.mark.parametrize("seed", range(6))
def test_from_every_state(seed: int) -> None:
    automaton = random_automaton(6, 2, seed)
    listed = len(automaton.reachable()) == 6  # from the start alone
    for form in forms_of(automaton):
        for start in range(6):
            if (
                listed
                and start != automaton.start
                and form.window is None
                and form.sizes != (6, 5, 4, 3, 2, 1)
            ):
                with pytest.raises(InputError, match="`start`"):
                    run(form, random_words(automaton, 2, 40, 0), start=start)
                continue
            assert run(form, random_words(automaton, 2, 40, 0), start=start).errors == 0


@pytest.mark.parametrize("p", [1, 2, 3, 4, 7, 12])
def test_permutations_as_two_rounds_of_swaps(p: int) -> None:
    images = np.array([np.random.default_rng(s).permutation(p) for s in range(30)])
    first, second = split_permutations(images)
    points = np.arange(p)
    for part in (first, second):
        assert (np.take_along_axis(part, part, axis=1) == points).all()
    assert (np.take_along_axis(second, first, axis=1) == images).all()
    swaps = ((first != points).sum(axis=1) + (second != points).sum(axis=1)) // 2
    cycles = [len({min(_orbit(row, i)) for i in range(p)}) for row in images.tolist()]
    assert (swaps == p - np.array(cycles)).all()


def _orbit(row: list[int], i: int) -> set[int]:
    seen: set[int] = set()
    while i not in seen:
        seen.add(i)
        i = row[i]
    return seen


def brute_windows(automaton: Automaton) -> list[Window]:
    """By image sets of all words, length by length."""
    n = len(automaton.states)
    maps = [row for row in automaton.transitions.tolist() if row != list(range(n))]
    found: dict[int, int] = {}
    level, seen = {frozenset(range(n))}, []
    for length in range(1, 40):
        level = {frozenset(row[q] for q in s) for s in level for row in maps}
        most = max(map(len, level))
        found.setdefault(most, length)
        if level in seen:
            break
        seen.append(level)
    sizes = [s for s in range(n - 1, 0, -1) if s >= min(found)]
    return [Window(s, min(m for size, m in found.items() if size <= s)) for s in sizes]


@pytest.mark.parametrize("seed", range(12))
def test_windows_are_the_least(seed: int) -> None:
    automaton = random_automaton(3 + seed % 4, 2, seed, identity=seed % 3 == 0)
    assert find_windows(automaton.transitions) == brute_windows(automaton)


def test_named_windows() -> None:
    assert construct("tomita:4", theorem="own.window").figures.layers == 2
    for spec, states in (("tomita:7", 3), ("regex:(a|b)*a(a|b)(a|b)", 1)):
        found = construct(spec, theorem="own.window")
        assert found.depth <= states
    with pytest.raises(NotRealisableError, match="a letter permutes them"):
        construct("T3", theorem="own.window")


def test_a_limit_leaves_wider_windows() -> None:
    automaton = random_automaton(40, 2, 0)
    all_found, few = find_windows(automaton.transitions), find_windows(automaton.transitions, 30)
    assert few == all_found[: len(few)]
    assert 0 < len(few) < len(all_found)


def test_sizes_fall_faster_where_chains_are_listed() -> None:
    automaton = random_automaton(20, 2, 1)
    planned = plan_sizes(automaton.transitions, range(20))
    assert len(planned) < 20 == len(plan_sizes(automaton.transitions, [0], 0))


def test_transitions_are_listed_or_refused() -> None:
    form = construct("T3", theorem="own.chain")
    seen = {t for letter in form.automaton.letters for layer in form.transitions(letter) for t in layer[0]}
    assert any(t.additive for t in seen)
    large = construct("random:states=20,letters=2,seed=1", theorem="own.window")
    assert isinstance(large, ChainRNN)
    with pytest.raises(LimitError, match="transitions_of"):
        large.transitions("a")


def document(spec: str, theorem: str) -> dict[str, Any]:
    """A certificate as read back from JSON."""
    found: dict[str, Any] = json.loads(json.dumps(construct(spec, theorem=theorem).certificate()))
    return found


def test_the_checker_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "chain.json"
    path.write_text(json.dumps(document("tomita:4", "own.window")))
    program = Path(checker.__file__).parent / "chain.py"
    done = subprocess.run([sys.executable, "-I", program, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "valid")


WRONG = [
    ("own.chain", lambda d: d["sizes"].pop(1), "sizes"),
    ("own.chain", lambda d: d["sizes"].reverse(), "sizes"),
    ("own.chain", lambda d: d["sizes"].append(1), "sizes"),
    ("own.chain", lambda d: d.update(sizes=[19, 1]), "sizes"),
    ("own.chain", lambda d: d.update(window=2), "sizes"),
    ("own.chain", lambda d: d.update(padding="most"), "padding"),
    ("own.chain", lambda d: d["summary"].update(layers=2), "summary.layers"),
    ("own.chain", lambda d: d["summary"].update(dim=True), "summary.dim"),
    ("own.chain", lambda d: d["summary"].update(householders=1), "summary.householders"),
    ("own.window", lambda d: d.update(window=d["window"] + 1), "window"),
    ("own.window", lambda d: d.update(window=d["window"] - 1), "window"),
    ("own.window", lambda d: d.update(window=None), "sizes"),
    ("own.window", lambda d: d["sizes"].pop(0), "window"),
    ("own.window", lambda d: d.update(window=10**40), "window"),
    ("own.window", lambda d: d.update(window=True), "window"),
    ("own.window", lambda d: d.update(look_back=True), "summary"),
    ("own.window", lambda d: d.update(gates=True), "gates"),
    ("own.window", lambda d: d.pop("look_back"), "look_back"),
    ("own.chain", lambda d: d.update(look_back=1), "look_back"),
    ("own.lookback", lambda d: d.update(gates=False), "summary"),
    ("own.lookback", lambda d: d.update(look_back=False), "gates"),
    ("own.lookback", lambda d: d.update(gates=1), "gates"),
    ("own.lookback", lambda d: d["summary"].update(integer_bound=1), "summary.integer_bound"),
    ("own.lookback", lambda d: d["summary"].update(householders=2), "summary.householders"),
    ("own.lookback", lambda d: d.update(window=d["window"] + 1), "window"),
]


def test_gates_need_look_back() -> None:
    with pytest.raises(ValueError, match="look_back"):
        ChainRNN(random_automaton(4, 2, 0), (4, 3, 2, 1), gated=True)
    with pytest.raises(ValueError, match="nothing to look back for"):
        ChainRNN(random_automaton(4, 2, 0), (4, 1), look_back=True)


def test_look_back_halves_the_dimension() -> None:
    automaton = random_automaton(20, 2, 1)
    sources = ("own.window", "own.lookback")
    plain, gated, alone = (f for s in sources for f in realisations_of(Problem(automaton), s))
    assert isinstance(plain, ChainRNN)
    assert isinstance(gated, ChainRNN)
    assert isinstance(alone, ChainRNN)
    assert plain.depth == gated.depth == alone.depth
    assert (2 * alone.dim, 2 * alone.householders) == (plain.dim, plain.householders)
    assert gated.householders == alone.householders - 1
    assert 4 * gated.work < plain.work
    assert "the gate 0 alone" in gated.hypotheses
    assert not any("gate" in text for text in alone.hypotheses)


@pytest.mark.parametrize(("theorem", "change", "reason"), WRONG)
def test_wrong_certificates_are_refused(theorem: str, change: Any, reason: str) -> None:
    spec = "mod_arith:3" if theorem == "own.chain" else "random:states=12,letters=2,seed=4"
    right = document(spec, theorem)
    assert check(right).verdict == "valid"
    wrong = copy.deepcopy(right)
    change(wrong)
    found = check(wrong)
    assert found.verdict == "invalid"
    assert reason in found.reason


def test_every_smaller_set_of_sizes_is_judged_rightly() -> None:
    """All sequences of sizes of small automata: the checker says valid exactly where no reachable step goes wrong."""
    judged = {True: 0, False: 0}
    for seed in range(18):
        automaton = random_automaton(4 + seed % 2, 2, 100 + seed)
        n = len(automaton.states)
        for bits in range(2 ** (n - 2)):
            sizes = (n, *(s for s in range(n - 1, 1, -1) if bits >> (s - 2) & 1), 1)
            form = ChainRNN(automaton, sizes)
            said = check(form).verdict == "valid"
            judged[said] += 1
            assert said == (_defect(form) is None), (seed, sizes)
    assert min(judged.values()) > 20


def _defect(form: ChainRNN) -> str | None:
    """A reachable chain and letter at which a set is not large enough, in sets of Python, from every state if need be."""
    automaton = form.automaton
    delta, n, sizes = automaton.transitions.tolist(), len(automaton.states), form.sizes
    every = len(automaton.reachable()) < n
    todo: list[tuple[tuple[int, ...], ...]] = []
    for q0 in range(n) if every else [automaton.start]:
        first = [tuple(range(n))]
        for size in sizes[1:]:
            first.append(tuple(sorted([q0, *[x for x in first[-1] if x != q0][: size - 1]])))
        todo.append(tuple(first))
    seen = set(todo)
    while todo:
        chain = todo.pop()
        for row in delta:
            after = [chain[0]]
            for i, size in enumerate(sizes[1:]):
                image = {row[x] for x in chain[i]}
                if len(image) == len(chain[i]):
                    after.append(tuple(sorted(row[x] for x in chain[i + 1])))
                    continue
                if len(image) > size:
                    return f"{image} at level {i}"
                others = [x for x in after[i] if x not in image]
                after.append(tuple(sorted([*image, *others[: size - len(image)]])))
            if row[chain[-1][0]] != after[-1][0]:
                return "wrong state"
            if tuple(after) not in seen:
                seen.add(tuple(after))
                todo.append(tuple(after))
    return None


def test_one_state_and_letters_that_do_nothing() -> None:
    for theorem in ("own.chain", "own.window"):
        with pytest.raises(NotRealisableError, match="one state needs no chain"):
            construct("mod:1", theorem=theorem)
    still = Automaton(
        (0, 1), ("a",), np.array([[0, 1]]), 0, np.array([True, False], dtype=object), keeps_points=True
    )
    (form,) = realisations_of(Problem(still), "own.chain")
    assert check(form).verdict == "valid"
    assert check_chain(json.loads(json.dumps(form.certificate())))
    assert run(form, random_words(still, 2, 10, 0)).errors == 0


def test_mealy_machines_whose_outputs_need_the_state_before_are_constructed() -> None:
    """A table's read-out sees the state after the token; the default is then a chain."""
    machine: Any = {"idle": {"go": "busy", "stop": "idle"}, "busy": {"go": "busy", "stop": "idle"}}
    outputs: Any = {
        "idle": {"go": "started", "stop": "nothing"},
        "busy": {"go": "nothing", "stop": "stopped"},
    }
    automaton = Automaton.from_transitions(machine, start="idle", mealy=outputs)
    assert not automaton.outputs_follow_states
    found = construct(automaton)
    assert found.kind == "chain"
    assert check(found, automaton).verdict == "valid"
    assert run(found, random_words(automaton, 4, 60, 0)).errors == 0
    assert construct("dyck1:2").automaton.outputs_follow_states


def test_large_automata_have_an_answer() -> None:
    """One hundred states at random: no cascade of tables is possible, and `construct` takes seconds."""
    found = construct("random:states=100,letters=4,seed=1")
    assert found.kind == "chain"
    assert found.depth <= 24
    assert any("G.T4" in note for note in found.notes)
    assert check(found).verdict == "valid"
    assert run(found, random_words(found.automaton, 4, 60, 0)).errors == 0


def test_letters_that_act_alike_are_one_in_the_register() -> None:
    automaton = random_automaton(5, 2, 1)
    doubled = Automaton(
        automaton.states, ("a", "b", "c", "d", "e"), automaton.transitions[[0, 1, 0, 1, 1]], automaton.start, automaton.outputs,
        keeps_points=True,
    )  # fmt: skip
    narrow, wide = forms_of(automaton)[-1], forms_of(doubled)[-1]
    assert narrow.bits.shape[1] == wide.bits.shape[1] == 2
    assert (narrow.sizes, narrow.window) == (wide.sizes, wide.window)
    word = np.random.default_rng(0).integers(0, 5, 60).tolist()
    q = automaton.start
    for x, found in zip(word, follow_by_factors(wide, word), strict=True):
        q = int(doubled.transitions[x, q])
        assert found == q
    assert run(wide, random_words(doubled, 3, 50, 0)).errors == 0
