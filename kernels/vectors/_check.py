"""A function held to the words: one verdict for each family, with the formats that it is about and the likely cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

from ...foundation._arguments import show_typed, show_value
from ...foundation._errors import InputError
from ._calling import Contract, Function, lacking, observe, signature_of
from ._compare import Asked, Asking, agrees, first_wrong, name_of
from ._diagnosis import Diagnosis, diagnose
from ._exact import FORMATS
from ._families import FAMILIES, Family, all_words, families_of
from ._frameworks import Framework
from ._recurrence import RIGHT, needs_of
from ._report import FAIL, NOT_RUN, PARTIAL, PASS, SkippedWords, VectorReport, VectorVerdict
from ._word import OPERATORS, Word, can_run


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
            and `rwkv7`, whose u and z are as in `rank_one_scan`. Words that need a parameter which it lacks are not run; without
            `scale` it is taken to multiply by K^-1/2. With `a` it is given gates, with `g` their natural logarithms, with both it
            is tested twice. With `**kwargs` it is taken to have every parameter, and gates come as `g` unless `a` is named. A
            function that does not implement something raises `NotImplementedError`; anything else that it raises is a failure, but
            for `KeyboardInterrupt`, which goes through. It leaves its arguments as they are, and returns o in the format of the
            outputs and the final state in that of the state.
        operator: `delta_rule`, `gated_delta_rule`, `delta_product`, `kda`, `rwkv7` or `scalar_gate`.
        contract: the formats in which the function says that it computes; by default float32 throughout. Arrays of numpy in
            bf16 are arrays of float32 with values of bf16.
        framework: of its arrays, `torch` or `numpy`.
        device: where torch's tensors are, such as `cuda`.
        families: names of the families to run; by default all.

    Returns:
        The verdicts.

    Raises:
        InputError: there is no such operator, format, framework, device or family, the operator has no words of a family, or
            the function cannot be called or has no signature.

    Examples:
        >>> from mirrormata.kernels import check_vectors
        >>> def nothing(q, k, v, beta, scale, initial_state=None):
        ...     return 0 * v, 0 * initial_state
        >>> check_vectors(nothing, "delta_rule", framework="numpy", families=["no-tokens"]).headline()
        '1 of 1 family fails: no-tokens'
    """
    contract = Contract() if contract is None else contract
    require_known(operator, contract, families)
    asking = Asking(function, operator, contract, Framework(framework, device))
    _require_function(function)
    asking.framework.require_device()
    own = families_of(operator)
    chosen = [f for f in FAMILIES if f.name in (own if families is None else families)]
    asked, skipped = _ask(asking, chosen)
    diagnosis = diagnose(asking, asked)
    return VectorReport(
        operator,
        contract,
        tuple(_verdict(asking, f, asked[f.name], skipped[f.name], diagnosis) for f in chosen),
        diagnosis.overall or _missing(asked, skipped),
    )


def require_known(operator: str, contract: Contract, families: Sequence[str] | None) -> None:
    """Refuse names of an operator, formats or families that there are not.

    Args:
        operator: see `check_vectors`.
        contract: likewise.
        families: likewise.

    Raises:
        InputError: there is no such operator, format or family, or the operator has no words of a family.
    """
    if operator not in OPERATORS:
        raise InputError(f"operator {show_value(operator)}: it is one of {', '.join(OPERATORS)}")
    for name, chosen in asdict(contract).items():
        if chosen not in FORMATS:
            raise InputError(f"{name} {show_value(chosen)}: it is one of {', '.join(FORMATS)}")
        if chosen == "tf32" and name != "products":
            raise InputError(f"{name} 'tf32': only products are rounded to it; no array has it as its dtype")
    if contract.sums not in ("fp32", "fp64"):
        raise InputError(f"sums {show_value(contract.sums)}: the words are exact in sums of fp32 or fp64")
    require_families(families or ())
    for name in families or ():
        if name not in families_of(operator):
            raise InputError(
                f"family {show_value(name)}: it has no words for {operator}, which has those of {', '.join(families_of(operator))}"
            )


def _require_function(function: Any) -> None:
    """Refuse what cannot be called by keyword."""
    if not callable(function):
        raise InputError(f"function {show_typed(function)}: give a function that returns (o, final_state)")
    try:
        signature_of(function)
    except Exception:
        raise InputError(
            f"function {show_value(function)}: its signature cannot be read; call it in a function with the named parameters q, k, v, ..."
        ) from None


def require_families(families: Sequence[str]) -> None:
    """Refuse names of families that there are not.

    Args:
        families: names.

    Raises:
        InputError: there is no family of such a name; the line lists those that there are.
    """
    known = [f.name for f in FAMILIES]
    for name in families:
        if name not in known:
            raise InputError(f"family {show_value(name)}: it is one of {', '.join(known)}")


Skipped = dict[str, list[tuple[str, str]]]
"""By family, the words that were not run: their names, each with why."""


def _ask(asking: Asking, families: Sequence[Family]) -> tuple[dict[str, list[Asked]], Skipped]:
    """Run the words of families; by family, those that were run, and why others were not."""
    signature = signature_of(asking.function)
    asked: dict[str, list[Asked]] = {f.name: [] for f in families}
    skipped: Skipped = {f.name: [] for f in families}
    for word in all_words():
        if word.family not in asked or not can_run(asking.operator, word):
            continue
        lacks = lacking(word, asking.operator, signature)
        beyond = f"the function has no parameter {lacks}" if lacks else _beyond(word, asking.contract)
        for gate in signature.gates if word.gate is not None else signature.gates[:1]:
            why = beyond
            if (
                not why
                and word.gate is not None
                and gate == "g"
                and asking.contract.gates not in ("fp32", "fp64")
            ):
                why = f"gates in {asking.contract.gates} do not hold its logarithms"
            if why:
                skipped[word.family].append((name_of(word, gate), why))
                continue
            found = observe(asking.function, word, asking.operator, asking.contract, asking.framework, gate)
            if found.refused:
                why = found.error.partition(": ")[2] or "not implemented"
                skipped[word.family].append((name_of(word, gate), why))
                continue
            one = Asked(word, gate, found, False)
            fails = bool(found.error) or not agrees(asking.contract, one, RIGHT)
            asked[word.family].append(Asked(word, gate, found, fails))
    return asked, skipped


def _missing(asked: dict[str, list[Asked]], skipped: Skipped) -> str:
    """Why no word was run, if none was and all for one reason."""
    whys = {why for words in skipped.values() for _, why in words}
    if any(asked.values()) or len(whys) != 1:
        return ""
    return f"no word was run: {whys.pop()}"


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


def _verdict(
    asking: Asking, family: Family, ran: list[Asked], skipped: list[tuple[str, str]], diagnosis: Diagnosis
) -> VectorVerdict:
    """The verdict of a family."""
    formats = asking.contract.describe()
    whys = dict.fromkeys(why for _, why in skipped)
    left = tuple(SkippedWords(why, tuple(name for name, its in skipped if its == why)) for why in whys)
    total = len(ran) + len(skipped)
    failed = [a for a in ran if a.fails]
    if not failed:
        verdict = NOT_RUN if not ran else PARTIAL if skipped else PASS
        return VectorVerdict(
            family.name,
            verdict,
            len(ran),
            (),
            formats,
            "" if ran else "; ".join(whys),
            total=total,
            skipped=left,
        )
    cause, known = diagnosis.of_family(family)
    names = tuple(a.name for a in failed)
    first = first_wrong(asking.contract, failed[0])
    return VectorVerdict(family.name, FAIL, len(ran), names, formats, cause, known, first, total, left)
