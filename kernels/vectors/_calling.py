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
        outputs: to which exact outputs are rounded once.
    """

    inputs: str = "fp32"
    beta: str = "fp32"
    gates: str = "fp32"
    state: str = "fp32"
    products: str = "fp32"
    sums: str = "fp32"
    outputs: str = "fp32"

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
        error: what it raised, in a line; empty if nothing.
        refused: whether it said that it does not implement this (`NotImplementedError`).
    """

    o: Floats
    finals: Floats
    error: str = ""
    refused: bool = False


def parameters_of(function: Function) -> tuple[frozenset[str], frozenset[str]]:
    """The names of a function's parameters, and of those that must be given."""
    found = inspect.signature(function).parameters.values()
    named = [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return frozenset(p.name for p in named), frozenset(p.name for p in named if p.default is p.empty)


def lacking(word: Word, operator: str, names: frozenset[str]) -> str:
    """What a word needs that a function has no parameter for; empty if nothing.

    Args:
        word: the word.
        operator: the function's operator.
        names: the names of its parameters.
    """
    needed = {
        "initial_state": word.initial_state is not None or any(call.after >= 0 for call in word.calls),
        "cu_seqlens": word.cu_seqlens is not None,
        "householders": word.householders > 1,
        "g": word.gate is not None and not names & set(GATES),
    }
    return ", ".join(name for name, it in needed.items() if it and name not in names)


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
    names, required = parameters_of(function)
    N, B, H, K, V = word.shape
    o, finals = np.zeros((B, word.tokens, H, V)), np.zeros((len(word.calls), N, H, K, V))
    start = None
    if word.initial_state is not None:
        start = framework.make(word.initial_state, FORMATS[contract.state])
    returned: list[Any] = []
    for i, call in enumerate(word.calls):
        arguments = _arguments(word, operator, call, contract, framework, gate, names, required)
        before = start if call.after < 0 else returned[call.after]
        if "initial_state" in names:
            arguments["initial_state"] = before
        try:
            result = function(**arguments)
            outputs, final = result[0], result[1]
            if final is None:
                raise ValueError("it returns no final state")
            returned.append(final)
            found, last = framework.read(outputs), framework.read(final)
            for name, array, shape in (
                ("outputs", found, (B, call.end - call.start, H, V)),
                ("final state", last, (N, H, K, V)),
            ):
                if array.shape != shape:
                    raise ValueError(f"{name} have shape {list(array.shape)} instead of {list(shape)}")
        except Exception as error:
            line = " ".join(str(error).split())
            shown = line if len(line) <= 120 else line[:117] + "..."
            return Observation(
                o, finals, f"{type(error).__name__}: {shown}", isinstance(error, NotImplementedError)
            )
        o[:, call.start : call.end], finals[i] = found, last
    return Observation(o, finals)


def _arguments(
    word: Word,
    operator: str,
    call: Call,
    contract: Contract,
    framework: Framework,
    gate: str,
    names: frozenset[str],
    required: frozenset[str],
) -> dict[str, Any]:
    """The arguments of a call but for the initial state."""
    tokens = slice(call.start, call.end)
    rows = slice(call.start * word.householders, call.end * word.householders)
    inputs = FORMATS[contract.inputs]
    found = {
        "q": framework.make(word.q[:, tokens], inputs),
        "k": framework.make(word.k[:, rows], inputs),
        "v": framework.make(word.v[:, rows], inputs),
        "scale": float(word.scale),
    }
    if word.beta is not None:
        found["beta"] = framework.make(word.beta[:, rows], FORMATS[contract.beta])
    for name, x in (("u", word.u), ("z", word.z)):
        if x is not None:
            found[name] = framework.make(x[:, tokens], inputs)
    if operator != "delta_rule" and (word.gate is not None or gate in required):
        found[gate] = framework.make(
            _gates(word, operator, contract, gate)[:, tokens], FORMATS[contract.gates]
        )
    if word.cu_seqlens is not None:
        found["cu_seqlens"] = framework.integers(word.cu_seqlens)
    if "householders" in names:
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
