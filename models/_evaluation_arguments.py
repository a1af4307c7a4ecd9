"""What `evaluate_folder` asks of its arguments and paths. It needs no torch, so that a slip is told before seconds of loading."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from ..foundation._errors import InputError
from ..foundation._files import is_file, is_folder, is_there, require_there, shown_path

DEVICES = ("auto", "cpu", "cuda", "mps", "xpu")
"""Kinds of devices that people name; torch decides about others."""


def check_evaluation_arguments(
    folder: str,
    *,
    words: int = 256,
    seed: int = 0,
    chunk: int = 1024,
    memory: int | None = None,
    data: str | None = None,
    group: str | None = None,
    device: str = "auto",
) -> None:
    """Refuse what can be seen to be wrong without a model.

    Args:
        folder: a model folder, or the folder of a training.
        words: the number of words.
        seed: the seed of the words.
        chunk: the number of tokens in memory at once.
        memory: the letters that layers may remember; None for no limit.
        data: a file or folder to test on; None for random words.
        group: the group of a CSV file.
        device: the name of a device.

    Raises:
        InputError: the first thing that is wrong; the line names it.
    """
    check_model_place(folder)
    if words < 1 or chunk < 2:
        raise InputError(
            f"eval: words {words}, chunk {chunk}: at least 1 word and chunks of 2 tokens are needed"
        )
    if seed < 0:
        raise InputError(f"eval: seed {seed}: give a number from 0")
    if memory is not None and memory < 1:
        raise InputError(f"`memory` {memory}: give the letters that layers may remember, at least 1")
    if data is not None:
        require_there(data)
    if group is not None and data is None:
        raise InputError(
            f"`group` {group}: it is of the file of words that `data` names; give `data` as well, or leave it out"
        )
    check_device_name(device)


def check_model_place(folder: str) -> None:
    """Refuse a place in which there is no model, and no training with one.

    Args:
        folder: a model folder, or the folder of a training.

    Raises:
        InputError: there is no such folder, or it holds neither.
    """
    place = Path(folder)
    if not is_folder(place):
        what = "is a file, and a folder is needed" if is_there(place) else "no such folder"
        raise InputError(f"{shown_path(folder)}: {what}; give a model folder, or what `train` wrote")
    if not is_file(place / "config.json") and not any(place.glob("seed-*")):
        raise InputError(
            f"{shown_path(place)}: holds no model (config.json) and no seeds (seed-0, ...); train to the end first"
        )


def check_device_name(name: str) -> None:
    """Refuse a slip of the pen in the name of a device; whether it is there, torch knows.

    Args:
        name: such as `auto`, `cpu` or `cuda:1`.

    Raises:
        InputError: it is no kind of device that is known, and looks like one.

    Examples:
        >>> check_device_name("cuda:1")
    """
    kind = name.partition(":")[0]
    near = get_close_matches(kind, DEVICES, 1)
    if kind not in DEVICES and near:
        raise InputError(f"device {name}: there is no such device; did you mean {near[0]}?")
