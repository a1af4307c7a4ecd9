"""The form of what a function returned, and that it left its arguments as they were: before any number is compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._exact import Format
from ._frameworks import Framework
from ._word import Word

Floats = NDArray[np.float64]


class WrongFormError(Exception):
    """What a function did has another form than to return (o, final_state); `rule` says what it must do, for all words alike."""

    def __init__(self, found: str, rule: str) -> None:
        super().__init__(found)
        self.rule = rule


def call_form(error: BaseException) -> str:
    """What a function must do instead of raising something that is no `Exception`, such as `SystemExit`; empty for an `Exception`.

    Args:
        error: what it raised.
    """
    if isinstance(error, Exception):
        return ""
    ends = "ends the program: it " if isinstance(error, SystemExit) else ""
    return f"it {ends}raises {type(error).__name__}: a function must return (o, final_state)"


def pair_of(result: Any) -> tuple[Any, Any]:
    """Outputs and final state of what a function returned.

    Args:
        result: what it returned.

    Raises:
        WrongFormError: it is no pair, or has no final state.
    """
    if not isinstance(result, tuple | list):
        raise WrongFormError(
            f"it returns one {type(result).__name__}, not a pair",
            "it returns no pair: a function must return (o, final_state), in this order",
        )
    if len(result) != 2:
        raise WrongFormError(
            f"it returns {len(result)} values instead of two",
            "it returns another number of values than two: a function must return (o, final_state)",
        )
    if result[1] is None:
        raise WrongFormError(
            "it returns no final state",
            "it returns None as the final state: a function must return (o, final_state) with a state of [N, H, K, V]; some "
            "functions do so only with an argument such as output_final_state=True",
        )
    return result[0], result[1]


def read_result(array: Any, name: str, stated: Format, framework: Framework) -> Floats:
    """What a function returned, in float64; its shape is looked at by `require_shapes`.

    Args:
        array: what it returned.
        name: what it is, `outputs` or `final states`.
        stated: the format that the contract states for it.
        framework: of its arrays.

    Raises:
        WrongFormError: it is no array of the framework, has no numbers, or cannot be read.
    """
    kind = framework.kind_of_array
    if not isinstance(array, kind):
        raise WrongFormError(
            f"{name} are of the type {type(array).__name__}",
            f"{name} are no {kind.__module__}.{kind.__name__}: a function must return arrays of the framework that it is given",
        )
    if str(getattr(array, "device", "")) == "meta":
        raise WrongFormError(
            f"{name} are on the device meta",
            f"{name} are on the device meta, where tensors have no numbers: a function must return those that it computed",
        )
    try:
        return framework.read(array)
    except Exception as error:
        raise WrongFormError(
            f"{name} cannot be read: {type(error).__name__}",
            f"{name} cannot be read as numbers: a function must return dense arrays of {stated.name}",
        ) from None


def require_dtype(array: Any, name: str, option: str, stated: Format, framework: Framework) -> None:
    """Refuse an array of another dtype than the contract states.

    Args:
        array: an array of the framework.
        name: what it is, `outputs` or `final states`.
        option: what the contract calls its format, `outputs` or `state`.
        stated: that format.
        framework: of its arrays.

    Raises:
        WrongFormError: its dtype is another one.
    """
    wanted = framework.dtype_of(stated)
    if array.dtype != wanted:
        found, right = (str(x).removeprefix("torch.") for x in (array.dtype, wanted))
        raise WrongFormError(
            f"{name} are {found} instead of {right}",
            f"{name} are {found}, but the format that is stated for {option} is {stated.name}: return them in {right}, or state "
            "the format in which they are",
        )


def require_shapes(word: Word, outputs: Floats, final: Floats, tokens: int) -> None:
    """Refuse arrays of other shapes, with what the shape looks like.

    Args:
        word: the word.
        outputs: what was returned as outputs.
        final: what was returned as final states.
        tokens: of the call.

    Raises:
        WrongFormError: a shape is another one.
    """
    N, B, H, K, V = word.shape
    expected = (B, tokens, H, V)
    if outputs.shape != expected:
        found = f"outputs have shape {list(outputs.shape)} instead of {list(expected)}"
        raise WrongFormError(found, "outputs have another shape than [B, T, H, V]")
    state = (N, H, K, V)
    if final.shape == state:
        return
    rule = "final states have another shape than [N, H, K, V]"
    if final.shape == (N, H, V, K):
        rule = "final states are transposed: they must be [N, H, K, V], and these are [N, H, V, K]; initial states likewise"
    elif word.cu_seqlens is not None and final.shape == (B, H, K, V):
        rule = (
            "the function ignores cu_seqlens: with packed sequences there must be a final state for each of them, [N, H, K, V], not for "
            "each row of the batch"
        )
    raise WrongFormError(f"final states have shape {list(final.shape)} instead of {list(state)}", rule)


def copies_of(arguments: Mapping[str, Any], framework: Framework) -> dict[str, Floats]:
    """The numbers of the arrays among the arguments of a call, copied.

    Args:
        arguments: by name.
        framework: of their arrays.
    """
    return {
        name: framework.read(x) for name, x in arguments.items() if isinstance(x, framework.kind_of_array)
    }


def require_unchanged(
    arguments: Mapping[str, Any], before: Mapping[str, Floats], final: Floats, framework: Framework
) -> None:
    """Refuse a function that wrote into its arguments.

    An initial state may become the final state in place, as caches of decoders do: where this state is used once more, the
    numbers of the next call are wrong, and the family `prefix` is there for it. Any other change of it is refused.

    Args:
        arguments: of the call, by name, after it.
        before: what `copies_of` said of them before it.
        final: the final state that was returned.
        framework: of their arrays.

    Raises:
        WrongFormError: an argument is changed.
    """
    for name, old in before.items():
        try:
            new = framework.read(arguments[name])
        except Exception:  # its storage is gone
            new = np.empty(0)
        if _same(new, old) or (name == "initial_state" and _same(new, final)):
            continue
        raise WrongFormError(
            f"the argument {name} is changed in place",
            f"the argument {name} is changed in place: a function must leave its arguments as they are",
        )


def _same(x: Floats, y: Floats) -> bool:
    return np.array_equal(x, y, equal_nan=True)
