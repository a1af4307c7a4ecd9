"""A function held to the words: one verdict for each family, with the formats that it is about and the likely cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ...foundation._arguments import show_value
from ...foundation._errors import InputError
from ._calling import GATES, Contract, Floats, Function, Observation, lacking, observe, parameters_of
from ._causes import known_errors
from ._exact import FORMATS, in_float64, round_array
from ._families import FAMILIES, Family, all_words
from ._frameworks import Framework
from ._recurrence import RIGHT, Rule, answer_of, needs_of
from ._word import OPERATORS, Word, can_run

PASS, FAIL, NOT_RUN = "pass", "fail", "not run"


@dataclass(frozen=True)
class VectorVerdict:
    """What is found of one family.

    Attributes:
        family: its name.
        verdict: `pass`, `fail`, or `not run` where no word of it can be asked of the function.
        words: how many words were run.
        failed: the names of those that failed.
        formats: the formats that the verdict is about.
        cause: the likely cause of a failure; for `not run`, why.
        known: whether the cause is a known error that gives the very bits that were found.
        first: the first wrong entry of the first word that failed.
    """

    family: str
    verdict: str
    words: int
    failed: tuple[str, ...]
    formats: str
    cause: str = ""
    known: bool = False
    first: str = ""


@dataclass(frozen=True)
class VectorReport:
    """The verdicts of all families.

    Attributes:
        operator: the function's operator.
        contract: the formats.
        verdicts: one for each family that the operator can be called with.
    """

    operator: str
    contract: Contract
    verdicts: tuple[VectorVerdict, ...]

    @property
    def passed(self) -> bool:
        """Whether no family fails, and one passes."""
        found = {v.verdict for v in self.verdicts}
        return FAIL not in found and PASS in found

    def headline(self) -> str:
        """The result in a sentence."""
        run = [v for v in self.verdicts if v.verdict != NOT_RUN]
        failed = [v for v in run if v.verdict == FAIL]
        others = len(self.verdicts) - len(run)
        rest = f"; {_families(others)} not run" if others else ""
        if failed:
            return f"{len(failed)} of {_families(len(run))} fail: {', '.join(v.family for v in failed)}{rest}"
        return f"{'all ' if len(run) > 1 else ''}{_families(len(run))} pass{rest}"

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return {
            "operator": self.operator,
            "formats": asdict(self.contract),
            "passed": self.passed,
            "verdicts": [asdict(v) for v in self.verdicts],
        }


def _families(number: int) -> str:
    return "1 family" if number == 1 else f"{number} families"


@dataclass(frozen=True)
class _Asked:
    """A word that was run, with what was found and what is right."""

    word: Word
    gate: str
    found: Observation
    fails: bool

    @property
    def name(self) -> str:
        return f"{self.word.name}{' (gates)' if self.gate == 'a' and self.word.gate is not None else ''}"


@dataclass
class _Asking:
    """A function with all that its test needs."""

    function: Function
    operator: str
    contract: Contract
    framework: Framework
    causes: dict[tuple[str, str], bool] = field(default_factory=dict)


def check_vectors(
    function: Function,
    operator: str = "gated_delta_rule",
    *,
    contract: Contract | None = None,
    framework: str = "torch",
    device: str = "cpu",
    families: Sequence[str] | None = None,
) -> VectorReport:
    """Hold a function to the exact words of its operator.

    Args:
        function: it is called by keyword with those of `q, k, v, beta, g, a, initial_state, cu_seqlens, scale, householders, u, z`
            that a word needs, and returns `(o, final_state)`; shapes as in `delta_product`, gates by channels `[B,T,H,K]` for `kda`
            and `rwkv7`, whose u and z are as in `rank_one_scan`. Words that need a parameter which it lacks are not run. With
            `a` it is given gates, with `g` their natural logarithms, with both it is tested twice. A function that does not
            implement something raises `NotImplementedError`.
        operator: `delta_rule`, `gated_delta_rule`, `delta_product`, `kda`, `rwkv7` or `scalar_gate`.
        contract: the formats in which the function says that it computes; by default float32 throughout.
        framework: of its arrays, `torch` or `numpy`.
        device: where torch's tensors are, such as `cuda`.
        families: names of the families to run; by default all.

    Returns:
        The verdicts.

    Raises:
        InputError: there is no such operator, format, framework or family.

    Examples:
        >>> from mirrormata.kernels import check_vectors
        >>> def nothing(q, k, v, beta, scale, initial_state=None):
        ...     return 0 * v, 0 * initial_state
        >>> check_vectors(nothing, "delta_rule", framework="numpy", families=["no-tokens"]).headline()
        '1 of 1 family fail: no-tokens'
    """
    contract = Contract() if contract is None else contract
    _refuse_unknown(operator, contract, families)
    asking = _Asking(function, operator, contract, Framework(framework, device))
    chosen = [f for f in FAMILIES if families is None or f.name in families]
    asked, skipped = _ask(asking, chosen)
    explained = {
        f.name: _explanations(asking, asked[f.name])
        for f in chosen
        if any(a.fails and not a.found.error for a in asked[f.name])
    }
    verdicts = [_verdict(asking, f, asked, skipped[f.name], explained) for f in chosen]
    return VectorReport(operator, contract, tuple(v for v in verdicts if v is not None))


def _refuse_unknown(operator: str, contract: Contract, families: Sequence[str] | None) -> None:
    if operator not in OPERATORS:
        raise InputError(f"operator {show_value(operator)}: it is one of {', '.join(OPERATORS)}")
    for name, chosen in asdict(contract).items():
        if chosen not in FORMATS:
            raise InputError(f"{name} {show_value(chosen)}: it is one of {', '.join(FORMATS)}")
        if chosen == "tf32" and name != "products":
            raise InputError(f"{name} 'tf32': only products are rounded to it; no array has it as its dtype")
    if contract.sums not in ("fp32", "fp64"):
        raise InputError(f"sums {show_value(contract.sums)}: the words are exact in sums of fp32 or fp64")
    known = [f.name for f in FAMILIES]
    for name in families or ():
        if name not in known:
            raise InputError(f"family {show_value(name)}: it is one of {', '.join(known)}")


def _ask(asking: _Asking, families: Sequence[Family]) -> tuple[dict[str, list[_Asked]], dict[str, list[str]]]:
    """Run the words of families; by family, those that were run, and why others were not."""
    names, _ = parameters_of(asking.function)
    gates = [g for g in GATES if g in names] or ["g"]
    asked: dict[str, list[_Asked]] = {f.name: [] for f in families}
    skipped: dict[str, list[str]] = {f.name: [] for f in families}
    for word in all_words():
        if word.family not in asked or not can_run(asking.operator, word):
            continue
        why = lacking(word, asking.operator, names)
        why = f"the function has no parameter {why}" if why else _beyond(word, asking.contract)
        if why:
            skipped[word.family].append(why)
            continue
        for gate in gates if word.gate is not None else gates[:1]:
            if word.gate is not None and gate == "g" and asking.contract.gates not in ("fp32", "fp64"):
                skipped[word.family].append(f"gates in {asking.contract.gates} do not hold its logarithms")
                continue
            found = observe(asking.function, word, asking.operator, asking.contract, asking.framework, gate)
            if found.refused:
                skipped[word.family].append(found.error.partition(": ")[2] or "not implemented")
                continue
            fails = bool(found.error) or not _agrees(word, asking.contract, gate, found, RIGHT)
            asked[word.family].append(_Asked(word, gate, found, fails))
    return asked, skipped


def _beyond(word: Word, contract: Contract) -> str:
    """Which of a word's numbers the stated formats do not hold; empty if they hold all."""
    needs = _needs(word)
    wanted = {"inputs": word.spans["inputs"], "beta": word.spans["beta"], "state": needs.state}
    for name, span in wanted.items():
        stated = FORMATS[getattr(contract, name)]
        if not stated.holds(span):
            return f"{name} in {stated.name} do not hold its numbers"
    if contract.products not in word.products:
        return f"products in {contract.products} may round it"
    outputs = FORMATS[contract.outputs]
    if needs.outputs.precision and needs.outputs.high > outputs.high:
        return f"outputs in {outputs.name} do not hold its numbers"
    return ""


@cache
def _needs(word: Word) -> Any:
    return needs_of(word)


@lru_cache(maxsize=20_000)
def _expected(word: Word, outputs: str, state: str, rule: Rule) -> tuple[Floats, Floats]:
    """Outputs and final states, rounded to the stated formats."""
    answer = answer_of(word, rule)
    return (
        in_float64(round_array(answer.o, FORMATS[outputs])),
        in_float64(round_array(answer.finals, FORMATS[state])),
    )


def _agrees(word: Word, contract: Contract, gate: str, found: Observation, rule: Rule) -> bool:
    """Whether a function gave what a rule gives, to the last bit or within the word's bound."""
    return not any(wrong.any() for wrong in _wrong(word, contract, gate, found, rule))


def _wrong(word: Word, contract: Contract, gate: str, found: Observation, rule: Rule) -> tuple[Any, Any]:
    """Which outputs and which entries of final states differ."""
    bound = float(word.bound if gate == "g" else word.bound_linear)
    expected = _expected(word, contract.outputs, contract.state, rule)
    right = _expected(word, contract.outputs, contract.state, RIGHT)
    largest = max(float(np.max(np.abs(x), initial=0)) for x in right)
    differ = []
    for x, y, stated in zip(
        (found.o, found.finals), expected, (contract.outputs, contract.state), strict=True
    ):
        finite = np.isfinite(x) & np.isfinite(y)
        allowed = np.zeros_like(y)
        if bound:  # and once more the rounding of the format that is stated
            allowed = bound * largest + np.where(finite, np.abs(y), 0) * 2.0 ** -FORMATS[stated].precision
        with np.errstate(invalid="ignore"):
            near = np.abs(x - y) <= allowed
        differ.append(~np.where(finite, near, np.isfinite(x) == np.isfinite(y)))
    return differ[0], differ[1]


def _explanations(asking: _Asking, asked: list[_Asked]) -> list[Rule]:
    """The known errors that give everything that was found of a family."""
    ran = [a for a in asked if not a.found.error]
    # a short word that failed refutes most
    order = sorted(ran, key=lambda a: (not a.fails, a.word.tokens))
    return [
        rule
        for rule in known_errors()
        if all(_agrees(a.word, asking.contract, a.gate, a.found, rule) for a in order)
    ]


def _verdict(
    asking: _Asking,
    family: Family,
    asked: dict[str, list[_Asked]],
    skipped: list[str],
    explained: dict[str, list[Rule]],
) -> VectorVerdict | None:
    """The verdict of a family; None if the operator has no word of it."""
    ran = asked[family.name]
    formats = asking.contract.describe()
    if not ran:
        if not skipped:
            return None
        return VectorVerdict(family.name, NOT_RUN, 0, (), formats, "; ".join(dict.fromkeys(skipped)))
    failed = [a for a in ran if a.fails]
    if not failed:
        return VectorVerdict(family.name, PASS, len(ran), (), formats)
    names = tuple(a.name for a in failed)
    rules = explained.get(family.name, [])
    cause = family.cause
    if all(a.found.error for a in failed):
        cause = f"it raises an error; {family.cause}"
    elif rules:
        cause = _most_likely(asking, rules, asked, explained).cause
    return VectorVerdict(
        family.name, FAIL, len(ran), names, formats, cause, bool(rules), _first_wrong(asking, failed[0])
    )


def _most_likely(
    asking: _Asking, rules: list[Rule], asked: dict[str, list[_Asked]], explained: dict[str, list[Rule]]
) -> Rule:
    """Of known errors that explain a family, the one that explains most of the others; the first of equals."""
    if len(rules) == 1:
        return rules[0]

    def explains(rule: Rule, name: str) -> bool:
        if name in explained:
            return rule in explained[name]
        known = (rule.cause, name)
        if known not in asking.causes:
            asking.causes[known] = all(
                _agrees(a.word, asking.contract, a.gate, a.found, rule)
                for a in asked[name]
                if not a.found.error
            )
        return asking.causes[known]

    return max(rules, key=lambda rule: sum(explains(rule, name) for name in asked))


def _first_wrong(asking: _Asking, asked: _Asked) -> str:
    """The first wrong entry of a word, with what is right."""
    if asked.found.error:
        return f"{asked.name}: {asked.found.error}"
    word, found = asked.word, asked.found
    wrong = _wrong(word, asking.contract, asked.gate, found, RIGHT)
    expected = _expected(word, asking.contract.outputs, asking.contract.state, RIGHT)
    for name, differs, x, y in zip(
        ("o", "final state"), wrong, (found.o, found.finals), expected, strict=True
    ):
        if differs.any():
            place = tuple(int(i[0]) for i in np.nonzero(differs))
            shown = place if name == "o" else place[1:] if len(word.calls) == 1 else place
            return f"{asked.name}: {name}{list(shown)} is {x[place]!r}, not {y[place]!r}".replace(
                "np.float64", ""
            )
    raise AssertionError(f"{asked.name}: nothing is wrong")
