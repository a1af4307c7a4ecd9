"""A function called as a word says: arguments by the names in its signature, states handed on as it returned them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._exact import FORMATS, Exact
from ._frameworks import Framework
from ._results import (
    WrongFormError,
    call_form,
    copies_of,
    pair_of,
    read_result,
    require_dtype,
    require_shapes,
    require_unchanged,
)
from ._word import Call, Word

Floats = NDArray[np.float64]
Function = Callable[..., Any]
GATES = ("g", "a")
"""The parameters for gates: their logarithms, and the gates themselves."""


@dataclass(frozen=True)
class Contract:
    """The formats in which a function says that it computes; what they do not hold is not asked of it.

    Attributes:
        inputs: of q, k and v (and u and z).
        beta: of beta.
        gates: of the gates or their logarithms.
        state: of states, from call to call and from token to token.
        products: to which anything may be rounded where it enters a product (of matrix units).
        sums: of sums of products.
        outputs: to which exact outputs are rounded once; by default the format of the inputs.
    """

    inputs: str = "fp32"
    beta: str = "fp32"
    gates: str = "fp32"
    state: str = "fp32"
    products: str = "fp32"
    sums: str = "fp32"
    outputs: str = ""

    def __post_init__(self) -> None:
        if not self.outputs:
            object.__setattr__(self, "outputs", self.inputs)

    def describe(self) -> str:
        """The formats in one line, those that are alike together."""
        named: dict[str, list[str]] = {}
        for field in fields(self):
            named.setdefault(getattr(self, field.name), []).append(field.name)
        return "; ".join(f"{', '.join(alike)} {name}" for name, alike in named.items())


@dataclass(frozen=True)
class Observation:
    """What a function returned for a word.

    Attributes:
        o: outputs `[B,T,H,V]`.
        finals: final states `[calls,N,H,K,V]`.
        error: what it raised, or what is wrong with what it returned, in a line; empty if nothing.
        refused: whether it said that it does not implement this (`NotImplementedError`).
        returned: what it must return or do instead, where it returned something of another form, changed an argument, or raised
            something that is no `Exception`; else empty.
    """

    o: Floats
    finals: Floats
    error: str = ""
    refused: bool = False
    returned: str = ""


@dataclass(frozen=True)
class Signature:
    """What a function can be called with.

    Attributes:
        names: its parameters by name.
        required: those without a default.
        others: whether it takes any other name as well (`**kwargs`).
    """

    names: frozenset[str]
    required: frozenset[str]
    others: bool

    def takes(self, name: str) -> bool:
        """Whether it can be given an argument of this name."""
        return self.others or name in self.names

    @property
    def gates(self) -> tuple[str, ...]:
        """The parameters in which it is given gates, each tested by itself; `g` alone where none is named."""
        return tuple(g for g in GATES if g in self.names) or ("g",)


def signature_of(function: Function) -> Signature:
    """What a function can be called with.

    Args:
        function: the function.
    """
    found = inspect.signature(function).parameters.values()
    named = [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return Signature(
        frozenset(p.name for p in named),
        frozenset(p.name for p in named if p.default is p.empty),
        any(p.kind is p.VAR_KEYWORD for p in found),
    )


def lacking(word: Word, operator: str, signature: Signature) -> str:
    """What a word needs that a function has no parameter for; empty if nothing.

    Args:
        word: the word.
        operator: the function's operator.
        signature: what the function can be called with.
    """
    inputs = {
        "q": True,
        "k": True,
        "v": True,
        "beta": word.beta is not None,
        "u": word.u is not None,
        "z": word.z is not None,
    }
    needed = {
        "initial_state": word.initial_state is not None or any(call.after >= 0 for call in word.calls),
        "cu_seqlens": word.cu_seqlens is not None,
        "scale": word.scale != word.default_scale,
        "householders": word.householders > 1,
        "g": word.gate is not None and not any(signature.takes(g) for g in GATES),
    }
    for some in (inputs, needed):  # without the first, the others need not be named
        lacks = [name for name, it in some.items() if it and not signature.takes(name)]
        if lacks:
            return ", ".join(lacks)
    return ""


def observe(
    function: Function, word: Word, operator: str, contract: Contract, framework: Framework, gate: str
) -> Observation:
    """Call a function as a word says.

    Args:
        function: see `check_vectors`.
        word: the word.
        operator: the function's operator.
        contract: the formats.
        framework: of its arrays.
        gate: the parameter for gates, one of `GATES`.
    """
    signature = signature_of(function)
    N, B, H, K, V = word.shape
    o, finals = np.zeros((B, word.tokens, H, V)), np.zeros((len(word.calls), N, H, K, V))
    start = None
    if word.initial_state is not None:
        start = framework.make(word.initial_state, FORMATS[contract.state])
    returned: list[Any] = []
    for i, call in enumerate(word.calls):
        arguments = _arguments(word, operator, call, contract, framework, gate, signature)
        before = start if call.after < 0 else returned[call.after]
        if "initial_state" in signature.names or before is not None:
            arguments["initial_state"] = before
        copies = copies_of(arguments, framework)
        try:
            result = function(**arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            refused = isinstance(error, NotImplementedError)
            return Observation(o, finals, _line_of(error), refused, call_form(error))
        try:
            outputs, final = pair_of(result)
            found = read_result(outputs, "outputs", FORMATS[contract.outputs], framework)
            last = read_result(final, "final states", FORMATS[contract.state], framework)
            require_shapes(word, found, last, call.end - call.start)
            require_dtype(outputs, "outputs", "outputs", FORMATS[contract.outputs], framework)
            require_dtype(final, "final states", "state", FORMATS[contract.state], framework)
            require_unchanged(arguments, copies, last, framework)
        except WrongFormError as error:
            return Observation(o, finals, str(error), returned=error.rule)
        returned.append(final)
        o[:, call.start : call.end], finals[i] = found, last
    return Observation(o, finals)


def _line_of(error: BaseException) -> str:
    """What a function raised, in one line."""
    try:
        line = " ".join(str(error).split())
    except Exception:  # an exception of its own, whose text cannot be made
        line = ""
    shown = line if len(line) <= 120 else line[:117] + "..."
    return f"{type(error).__name__}: {shown}"


def _arguments(
    word: Word,
    operator: str,
    call: Call,
    contract: Contract,
    framework: Framework,
    gate: str,
    signature: Signature,
) -> dict[str, Any]:
    """The arguments of a call but for the initial state."""
    tokens = slice(call.start, call.end)
    rows = slice(call.start * word.householders, call.end * word.householders)
    inputs = FORMATS[contract.inputs]
    found = {
        "q": framework.make(word.q[:, tokens], inputs),
        "k": framework.make(word.k[:, rows], inputs),
        "v": framework.make(word.v[:, rows], inputs),
    }
    if signature.takes("scale"):
        found["scale"] = float(word.scale)
    if word.beta is not None:
        found["beta"] = framework.make(word.beta[:, rows], FORMATS[contract.beta])
    for name, x in (("u", word.u), ("z", word.z)):
        if x is not None:
            found[name] = framework.make(x[:, tokens], inputs)
    if operator != "delta_rule" and (word.gate is not None or gate in signature.required):
        found[gate] = framework.make(
            _gates(word, operator, contract, gate)[:, tokens], FORMATS[contract.gates]
        )
    if word.cu_seqlens is not None:
        found["cu_seqlens"] = framework.integers(word.cu_seqlens)
    if "householders" in signature.names or word.householders > 1:
        found["householders"] = word.householders
    return found


def _gates(word: Word, operator: str, contract: Contract, gate: str) -> Exact:
    """The gates as the function takes them, by channels for operators that have them so."""
    shape = word.q.shape[:3]
    if word.gate is None:
        found = np.zeros(shape, dtype=object) + (1 if gate == "a" else 0)
    else:
        taken = word.linear_gate if gate == "a" else word.log_gate(FORMATS[contract.gates])
        assert taken is not None
        found = taken
    if operator in ("kda", "rwkv7") and found.ndim == 3:
        found = np.repeat(found[..., None], word.q.shape[3], axis=3)
    return found
