"""Models with a planted error, of which `prove` must find a shortest wrong word, and the same models without it.

How long that word is was worked out by hand; that it is wrong, and that each shorter beginning of it is right, is seen here by
rational numbers, on a way of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions._construct import Request, choose, construct
from ...constructions._head import Head
from ...constructions._lrnn import LRNN, Layer
from ...constructions._realisation import Transition
from ...constructions._spec import automaton_from_spec
from ...constructions.automata._automaton import Automaton
from ...foundation._errors import DisagreementError
from .._check import check
from ..arithmetic._arithmetic import PerStep, parse_arithmetic
from ..arithmetic._rounding import FORMATS
from ..checker._arithmetic import Arithmetic
from ..checker._exact import Invalid
from ..proofs._answers import answers_of
from ..proofs._codes import CodeMachine, codes_are_closed
from ..proofs._npz_model import NpzModel, npz_model
from ..proofs._proof import proof_digest
from ..proofs._prove import prove
from ..proofs._second_derivation import derive_again
from ..proofs._state_search import StateSearch
from ..proofs._stepper_machine import StepperMachine
from ._equivalences import WRONG_REGIONS

IN_BF16 = ("per_step:bf16", "per_op:bf16", "exact")
ON_KERNELS = ("kernel:recurrent:bf16",)
EVERYWHERE = (*IN_BF16, "per_step:fp8_e4m3", "per_op:fp16:tree:rz", "per_step:int:-4..4", "per_step:fp32:ru")


@dataclass(frozen=True)
class Planted:
    """A layer, the automaton that it is held to, and the length of a shortest wrong word in some arithmetics (None: none)."""

    name: str
    model: NpzModel
    automaton: Automaton
    length: int | None
    arithmetics: tuple[str, ...] = IN_BF16
    methods: tuple[str, ...] = ("auto", "states")


def cases() -> Iterator[tuple[str, str | None]]:
    """Layers of matrices in every arithmetic, by both methods; then constructions."""
    for case in plant_errors():
        for arithmetic in case.arithmetics:
            for method in case.methods:
                found = prove(case.model, case.automaton, arithmetic, max_states=20_000, method=method)
                yield f"{case.name}, {arithmetic}, {method}", _difference(found, case, arithmetic)
    yield from constructions()
    yield from second_programs()


def layer(A: Any, codes: Any, decode: Any, *, B: Any = None, start: Any = None) -> NpzModel:
    """A layer by its numbers: H has one column; `start`: the first code by default."""
    matrices = np.array(A, dtype=np.float64)
    named = np.array(codes, dtype=np.float64)[..., None]
    answers = np.array(decode)
    if answers.ndim == 1:
        answers = np.repeat(answers[:, None], len(matrices), axis=1)
    arrays = {
        "A": matrices,
        "B": np.zeros((*matrices.shape[:2], 1)) if B is None else np.array(B, dtype=np.float64)[..., None],
        "H0": named[0] if start is None else np.array(start, dtype=np.float64)[:, None],
        "codes": named,
        "decode": answers,
    }
    return npz_model(arrays, "by hand")


def automaton(rows: Any, outputs: Any, name: str = "by hand") -> Automaton:
    """Transitions `[letters][states]`, and an output for each state or, of a Mealy machine, for each letter and state."""
    states = tuple(range(len(rows[0])))
    given = np.array(outputs, dtype=object)
    return Automaton(states, tuple("abc"[: len(rows)]), np.array(rows), 0, given, name)


def plant_errors() -> Iterator[Planted]:
    """Each with what is wrong in it."""
    parity = automaton_from_spec("parity")
    sign, quarter = [[[1]], [[-1]]], [[0, -1], [1, 0]]
    still, square = [[1, 0], [0, 1]], [[1, 0], [0, 1], [-1, 0], [0, -1]]
    four = automaton([[0, 1, 2, 3], [1, 2, 3, 0]], [0, 1, 2, 3])
    turn = automaton([[1, 2, 3, 0]], [0, 1, 2, 3])
    yield Planted("parity by a sign", layer(sign, [[1], [-1]], [0, 1]), parity, None, EVERYWHERE)
    yield Planted("always 1", layer(sign, [[1], [-1]], [1, 1]), parity, 1, EVERYWHERE)
    wrong_back = layer(sign, [[1], [-1]], [[0, 1], [1, 1]])
    yield Planted("wrong on the way back to the start", wrong_back, parity, 2, EVERYWHERE)
    yield Planted("a quarter turn", layer([still, quarter], square, [0, 1, 2, 3]), four, None, EVERYWHERE)
    decode = [[0, 0], [1, 1], [3, 2], [3, 3]]
    yield Planted("wrong after an idle letter", layer([still, quarter], square, decode), four, 3, EVERYWHERE)
    yield Planted(
        "wrong where an idle letter stays", layer([still, quarter], square, [1, 1, 2, 3]), four, 1, EVERYWHERE
    )
    yield Planted(
        "wrong for one moving letter",
        layer([still, quarter], square, [[0, 0], [1, 1], [2, 2], [3, 2]]),
        four,
        3,
    )
    yield Planted("a turn that closes", layer([quarter], square, [0, 1, 2, 3]), turn, None, EVERYWHERE)
    yield Planted(
        "a turn, wrong where it closes", layer([quarter], square, [1, 1, 2, 3]), turn, 4, EVERYWHERE
    )
    yield Planted(
        "a turn the other way", layer([np.transpose(quarter)], square, [0, 1, 2, 3]), turn, 1, EVERYWHERE
    )
    # one state of the model, three of the automaton; letter a moves the automaton alone
    late = automaton([[1, 2, 2], [0, 1, 2]], [0, 0, 1])
    yield Planted("a model that stands still", layer([[[1]], [[1]]], [[1], [5]], [0, 1]), late, 2, EVERYWHERE)
    swapped = automaton([[0, 1, 2], [1, 2, 2]], [0, 0, 1])
    yield Planted("the same, letters exchanged", layer([[[1]], [[1]]], [[1], [5]], [0, 1]), swapped, 2)
    yield from plant_rounding_errors()
    yield from read()


def plant_rounding_errors() -> Iterator[Planted]:
    """Errors that an arithmetic makes."""
    even = automaton([[1, 0]], [0, 1])
    count = layer([[[1]]], [[i] for i in range(40)], [i % 2 for i in range(40)], B=[[1]])
    # 16 + 1 is rounded to 16 in four bits, 8 + 1 to 8 in three; ties toward -∞ and roundings down stay, up goes on by 2
    yield Planted("counting ones, four bits", count, even, 17, ("per_step:fp8_e4m3", "per_op:fp8_e4m3:bias"))
    yield Planted("counting ones, three bits", count, even, 9, ("per_step:fp8_e5m2", "per_step:fp8_e5m2:rd"))
    yield Planted("counting ones, rounded up", count, even, 17, ("per_step:fp8_e4m3:ru",))
    yield Planted("counting ones on a grid", count, even, 8, ("per_step:int:-8..7",))
    one = automaton([[0, 1]], [0, 1])
    double = layer([[[2]]], [[1], [32768]], [0, 0])
    yield Planted("doubling until it is infinite", double, one, 16, ("per_step:fp16", "per_op:fp8_e5m2"))
    yield Planted(
        "doubling until it saturates", double, one, None, ("per_step:fp8_e4m3", "per_step:fp16:sat")
    )
    # 11/64, 11/128, ... below the normal numbers 11/1024 is a tie, and ties go to even: 12, 6, 4, 2 over 1024, 1024, 1024, 1024
    falls = [0.0859375, 0.04296875, 0.021484375, 0.01171875, 0.005859375, 0.00390625, 0.001953125]
    subnormal = layer([[[1, 0], [0, 0.5]]], [[1, y] for y in falls], [0] * 6 + [1], start=[1, 0.171875])
    yield Planted("halving through the subnormal numbers", subnormal, one, 7, ("per_step:fp8_e4m3",))
    # a tie, in which the scores of float64 prefer the second code
    first, second = Fraction(1014138929, 2**29), Fraction(1982295, 2**20)
    middle = layer([[[0]]], [[first], [second]], [0, 1], B=[[(first + second) / 2]])
    yield Planted("a tie that float64 does not see", middle, one, None, ("per_step:fp64", "exact"))
    # 16 + 1 + 1 is 18 where the ones are added first, and 16 from the left: the zero in front has its place in a pair
    rows = [[[0, 1, 1, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]]
    codes = [[18, 16, 1, 1], [16, 16, 1, 1]]
    pairs = layer(rows, codes, [0, 1], start=[0, 16, 1, 1])
    told = automaton([[0, 1]], [0, 1])
    yield Planted("a sum by pairs", pairs, told, None, ("per_op:fp8_e4m3:tree", "per_step:fp8_e4m3"))
    yield Planted("a sum from the left", pairs, told, 1, ("per_op:fp8_e4m3", "per_op:fp8_e4m3:fma"))
    # 3/4 of the way from the code of answer 0, beyond the middle
    beyond = layer([[[0]]], [[0], [1]], [0, 1], B=[[0.75]])
    yield Planted("a state beyond the middle", beyond, told, 1, EVERYWHERE[:5])
    before = layer([[[0]]], [[0], [1]], [0, 1], B=[[0.375]])
    yield Planted("a state before the middle", before, told, None, EVERYWHERE[:5])
    added = layer([[[0.5]], [[0.5]]], [[1], [-1]], [0, 1], B=[[0.5], [-0.5]])
    last = automaton([[0, 0], [1, 1]], [0, 1])
    # 1, 0, 1/2: after b the state is (1 - 1)/2 = 0, a tie, which goes to the first code
    yield Planted("a tie goes to the first code", added, last, 1, IN_BF16)
    quick = layer([[[0.25]], [[0.25]]], [[1], [-1]], [0, 1], B=[[0.75], [-0.75]])
    yield Planted(
        "a contraction to the last letter", quick, last, None, (*IN_BF16, "per_step:bf16:ru"), ("auto",)
    )
    plane = layer(
        [[[0.125, 0.0625], [0, 0.125]]] * 2, [[1, 0], [0, 1]], [0, 1], B=[[0.875, 0], [-0.0625, 0.875]]
    )
    yield Planted("a contraction of a plane", plane, last, None, ("exact", "per_step:fp16:rz"), ("auto",))
    # 1/3 is 11/32 in four bits
    third = layer([[[1]]], [[11 / 32], [1 / 3]], [0, 1], start=[1 / 3])
    yield Planted("a start that is rounded", third, one, None, ("per_step:fp8_e4m3", "per_op:fp8_e4m3"))
    slow = layer([[[0.75]], [[0.75]]], [[1], [-1]], [0, 1], B=[[0.25], [-0.25]])
    for forgotten, (arithmetic, (a, b, start), texts, *_) in WRONG_REGIONS.items():
        numbers = [float(Fraction(c)) for c in texts]
        model = layer(
            [[[Fraction(a)]]],
            [[c] for c in numbers],
            [int(c == numbers[-1]) for c in numbers],
            B=[[Fraction(b)]],
            start=[Fraction(start)],
        )
        case = Planted(f"a proof that forgets {forgotten}", model, told, 1, (arithmetic,))
        length = next(t for t in range(1, 400) if not _fits(case, arithmetic, (0,) * t))
        yield replace(case, length=length)
    yield Planted("a contraction that is too slow", slow, last, 1, IN_BF16)


def read() -> Iterator[Planted]:
    """Errors of the read-out, and of the automaton that it is compared with."""
    sign = [[[1]], [[-1]]]
    # a Mealy machine: the output tells the state before, which is read by the letter from the state after
    before = automaton([[0, 1], [1, 0]], [[0, 1], [0, 1]])
    yield Planted("the state before", layer(sign, [[1], [-1]], [[0, 1], [1, 0]]), before, None, EVERYWHERE)
    yield Planted("the state after", layer(sign, [[1], [-1]], [[0, 0], [1, 1]]), before, 1, EVERYWHERE)
    nothing = layer(sign, [[1], [-1]], [[0, 0], [1, -1]])
    yield Planted("a code without an answer", nothing, automaton_from_spec("parity"), 1, EVERYWHERE)
    # many codes a side, so that they are compared by products: the answer is the sign
    many = [[i + 0.5] for i in range(6)] + [[-i - 0.5] for i in range(6)]
    sides = [0] * 6 + [1] * 6
    parity = automaton_from_spec("parity")
    yield Planted("six codes for each answer", layer(sign, many, sides), parity, None, IN_BF16)
    last = layer(sign, many, [*sides[:-1], 0], start=[5.5])
    yield Planted("six codes, the last wrong", last, parity, 1, IN_BF16)


def constructions() -> Iterator[tuple[str, str | None]]:
    """Constructions against their own automaton, and against one in which one state has another output or start."""
    s3, s3_delay = Request(), Request(theorem="DP.T1")
    for spec, request, arithmetics in (
        ("parity", Request(), IN_BF16),
        ("S3", s3, ("per_step:bf16", "exact")),
        ("S3", s3_delay, ("per_step:bf16",)),
        ("mod:4", Request(max_householders=1), ("per_step:bf16", "exact")),
        ("tomita:4", Request(theorem="G.T4"), ("per_step:fp16",)),
    ):
        yield from with_letters_exchanged(spec, request, arithmetics)
    yield from always_one(IN_BF16)
    # the same states under the same names, in another order; all with one output, so that the names alone tell them apart
    counter = automaton_from_spec("mod:3")
    same = np.array(["out"] * 3, dtype=object)
    model = choose(replace(counter, outputs=same), Request())
    names = (counter.states[2], counter.states[0], counter.states[1])
    turned = Automaton(
        names, counter.letters, np.array([[0, 1, 2], [1, 2, 0]]), 1, same, "states in another order"
    )
    for arithmetic in ("per_step:bf16", "exact"):
        found = prove(model, turned, arithmetic, max_states=100)
        yield (
            f"states in another order, {arithmetic}",
            None if found.verdict == "equivalent" else found.reason,
        )
    for mode, closed in (("rne", True), ("ru", False)):
        kept = codes_are_closed(fifths(), PerStep(FORMATS["bf16"], mode))
        yield f"codes that are kept bit for bit, {mode}", None if kept == closed else f"{kept}, not {closed}"
    # five rounded reflections of a pentagon: the turns drift apart in three bits, and close in four
    model = choose(automaton_from_spec("mod:5"), Request())
    for arithmetic, length, states in (("per_step:fp8_e5m2", 43, None), ("per_step:fp8_e4m3", 0, 22)):
        found = prove(model, automaton_from_spec("mod:5"), arithmetic, max_states=20_000)
        said = len(found.word or ()), None if length else found.states_explored
        reason = f"{found.verdict}: {said[0]} letters, {found.states_explored} states, not {length}, {states}"
        yield f"mod:5 in {arithmetic}", None if said == (length, states) else reason


def with_letters_exchanged(
    spec: str, request: Request, arithmetics: tuple[str, ...]
) -> Iterator[tuple[str, str | None]]:
    """A construction is equivalent to its automaton, and wrong after one letter where two letters are exchanged."""
    right = automaton_from_spec(spec)
    model = choose(right, request)
    swapped = np.array(right.transitions)
    swapped[[0, -1]] = swapped[[-1, 0]]
    exchanged = Automaton(
        right.states, right.letters, swapped, right.start, right.outputs, "letters exchanged"
    )
    for arithmetic in arithmetics:
        name = f"{spec} {request.theorem or ''} in {arithmetic}"
        found = prove(model, right, arithmetic, max_states=20_000)
        yield name, None if found.verdict == "equivalent" else f"{found.verdict}: {found.reason}"
        found = prove(model, exchanged, arithmetic, max_states=20_000)
        wrong = found.verdict == "counterexample" and len(found.word or ()) == 1
        yield f"{name}, letters exchanged", None if wrong else f"{found.verdict}: {found.word}"


def always_one(arithmetics: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
    """The states have other names, and the outputs are all the same: what counts are the outputs."""
    model = choose(automaton_from_spec("parity"), Request())
    always = Automaton(
        ("p", "q"), (0, 1), np.array([[0, 1], [1, 0]]), 0, np.array([1, 1], dtype=object), "always 1"
    )
    for arithmetic in arithmetics:
        found = prove(model, always, arithmetic, max_states=100)
        wrong = found.verdict == "counterexample" and found.word == (0,)
        yield f"parity is not always 1, {arithmetic}", None if wrong else f"{found.verdict}: {found.word}"


def on_kernels() -> Iterator[tuple[str, str | None]]:
    """Parity on a kernel, which needs torch: a part of the base of its own has these cases."""
    yield from with_letters_exchanged("parity", Request(), ON_KERNELS)
    yield from always_one(ON_KERNELS)


def second_programs() -> Iterator[tuple[str, str | None]]:
    """What steps the states again refuses: a set that is not closed, another read-out or start; and digests of what differs."""
    four = automaton([[0, 1, 2, 3], [1, 2, 3, 0]], [0, 1, 2, 3])
    turn, square = [[[1, 0], [0, 1]], [[0, -1], [1, 0]]], [[1, 0], [0, 1], [-1, 0], [0, -1]]
    right = layer(turn, square, [0, 1, 2, 3])
    arithmetic: Any = parse_arithmetic("per_step:bf16")
    for name, model, most, sound in (
        ("the states of a quarter turn", right, 100, True),
        ("three of its four states", right, 3, False),
        ("the same states read otherwise", layer(turn, square, [0, 1, 3, 2]), 100, False),
        ("the same states, wrong at the start", layer(turn, square, [1, 1, 2, 3]), 100, False),
        ("another start", layer(turn, square, [0, 1, 2, 3], start=[1, 1]), 100, False),
    ):
        machine = right.machine(arithmetic, right.answers(four))
        search = StateSearch(machine, four)
        search.run(max_states=most)
        yield (
            f"stepped again: {name}",
            _judge_second_program(search, model.machine(arithmetic, model.answers(four)), sound),
        )
    parity = construct("parity")
    opposite = automaton([[0, 1], [1, 0]], [1, 0], "opposite")
    opposite = replace(opposite, letters=parity.automaton.letters)
    codes = CodeMachine(parity, answers_of(opposite, parity.automaton))
    by_codes = StateSearch(codes, opposite).run(max_states=100)
    yield (
        "parity by its codes is not its opposite",
        None if by_codes.word == (0,) else f"{by_codes.verdict}: {by_codes.word}",
    )
    counter = StepperMachine(Shy(), answers_of(automaton_from_spec("parity"), None))
    search = StateSearch(counter, automaton_from_spec("parity"))
    search.run(max_states=100)
    yield "stepped again: a step that depends on the batch", _judge_second_program(search, counter, False)
    digests = [
        proof_digest(model, held_to, name, model.answers(held_to))
        for model, held_to, name in (
            (right, four, "per_step:bf16"),
            (right, four, "per_step:fp16"),
            (layer(turn, square, [0, 1, 3, 2]), four, "per_step:bf16"),
            (layer(turn, square, [0, 1, 2, 3], start=[0, 1]), four, "per_step:bf16"),
            (layer(turn[::-1], square, [0, 1, 2, 3]), four, "per_step:bf16"),
            (layer(turn, square, [0, 1, 2, 3], B=[[0, 0], [0, 1]]), four, "per_step:bf16"),
            (layer(turn, [*square[:3], [0, -2]], [0, 1, 2, 3]), four, "per_step:bf16"),
            (right, automaton([[0, 1, 2, 3], [1, 2, 3, 0]], [0, 1, 3, 2]), "per_step:bf16"),
            (right, automaton([[0, 1, 2, 3], [1, 2, 0, 3]], [0, 1, 2, 3]), "per_step:bf16"),
        )
    ]
    yield "digests of searches that differ", None if len(set(digests)) == len(digests) else "two are equal"


def _judge_second_program(search: StateSearch, machine: Any, sound: bool) -> str | None:
    """What is wrong with the second program's verdict."""
    try:
        derive_again(search, machine)
    except DisagreementError as error:
        return f"it refuses what is right: {error}" if sound else None
    return None if sound else "it accepts what is wrong"


class Shy:
    """Parity as a `Stepper`: it keeps count where several sequences are stepped, and forgets it where one is alone."""

    def initial(self, sequences: int) -> Any:
        """Zero for each sequence."""
        return np.zeros(sequences, dtype=np.int64)

    def step(self, states: Any, letters: Any) -> Any:
        """The parity; of a single sequence only after its first token, which every search steps alone."""
        counted = (states + letters) % 2
        return counted if len(states) > 1 or not states.any() else letters % 2

    def decode(self, states: Any, letters: Any) -> Any:
        """The parity itself."""
        return states


def fifths() -> LRNN:
    """Letter a sends (0, 5) to (1, 0) by an entry 1/5, and that to zero; letter b sets (0, 5).

    A fifth is rounded up in bf16, and five times that lies above 1: nearest rounding makes 1 of it, rounding up does not.
    """
    letters = (Transition(matrix=((0, 1, Fraction(1, 5)),)), Transition(gate=0, additive=((1, 0, 5),)))
    images = np.array([[0, 2, 0], [1, 1, 1]])
    head = Head(2, 1, letters, ((), ((1, 0, 5),), ((0, 0, 1),)), images)
    machine = automaton(images.tolist(), [0, 1, 2], "fifths")
    return LRNN(machine, (Layer((head,)),), np.stack([np.arange(3)] * 2, axis=1), "none", "by hand")


def _difference(found: Any, case: Planted, arithmetic: str) -> str | None:
    if case.length is None:
        if found.verdict != "equivalent":
            return f"{found.verdict} {found.word}, but all words are right"
        said = None if found.certificate is None else check(found.certificate)
        return f"its certificate is refused: {said.reason}" if said and said.verdict != "valid" else None
    if found.verdict != "counterexample" or found.word is None:
        return f"{found.verdict}, but a word of {case.length} letters is wrong"
    if len(found.word) != case.length:
        return f"a word of {len(found.word)} letters, but a shortest has {case.length}"
    right = [_fits(case, arithmetic, found.word[: t + 1]) for t in range(case.length)]
    return (
        None
        if right == [True] * (case.length - 1) + [False]
        else f"the word {found.word} is not wrong at its end alone"
    )


def _entry(
    rounds: Arithmetic, terms: list[tuple[int, Fraction, Fraction]], b: Fraction, width: int
) -> Fraction:
    """Σ a h + b, for terms (column, a, h)."""
    if rounds.kind == "per_op":
        return rounds.operations(terms, b, width)
    return rounds.round(sum((a * h for _, a, h in terms), b))


def _fits(case: Planted, arithmetic: str, word: tuple[int, ...]) -> bool:
    """Is the answer after the word right, in rational numbers? A number that overflows answers nothing."""
    model, machine = case.model, case.automaton
    rounds = Arithmetic(arithmetic)
    state = [Fraction(x) for x in model.H0[:, 0].tolist()]
    q = before = machine.start
    for x in word:
        before, q = q, int(machine.transitions[x, q])
        rows = zip(model.A[x].tolist(), model.B[x, :, 0].tolist(), strict=True)
        try:
            state = [
                _entry(
                    rounds,
                    [(k, Fraction(a), state[k]) for k, a in enumerate(row) if a],
                    Fraction(b),
                    len(state),
                )
                for row, b in rows
            ]
        except Invalid:
            return False
    distances = [
        sum((h - Fraction(c)) ** 2 for h, c in zip(state, code, strict=True))
        for code in model.codes[..., 0].tolist()
    ]
    said = int(model.decode[distances.index(min(distances)), word[-1]])
    outputs = list(dict.fromkeys(str(o) for o in machine.outputs.ravel()))
    right = machine.outputs[word[-1], before] if machine.is_mealy else machine.outputs[q]
    return said == outputs.index(str(right))
