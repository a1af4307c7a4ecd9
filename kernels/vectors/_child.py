"""A function held to the words in a process of its own, so that one which crashes, ends the program or never ends is reported too.

The request is a JSON file in a folder of its own, and so is the report, which the child puts there whole or not at all. What the
function prints goes to standard error. The child ends when this process does, for whatever reason.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...foundation._errors import InputError, LimitError, MirrormataError
from ._calling import Contract
from ._report import SkippedWords, VectorReport, VectorVerdict

START = (
    "import json, sys; sys.path[:] = json.load(open(sys.argv[1] + '/path.json')); "
    "from mirrormata.kernels.vectors._child import main; main(sys.argv[1])"
)
"""What the child runs: it finds modules where this process does."""
REQUEST, REPORT = "request.json", "report.json"


@dataclass(frozen=True)
class Request:
    """What a function is held to.

    Attributes:
        name: module:function, or the name of a public implementation.
        operator: a key of `OPERATORS`; None for that of the implementation, or `gated_delta_rule`.
        framework: of its arrays; None for that of the implementation, or `torch`.
        device: where torch's tensors are.
        formats: those of the contract that are given.
        families: to run; None for all.
    """

    name: str
    operator: str | None
    framework: str | None
    device: str
    formats: dict[str, str]
    families: list[str] | None


def check_in_child(request: Request, max_seconds: float) -> VectorReport:
    """Hold a function to the words in a process of its own.

    Args:
        request: which function, and to what.
        max_seconds: the most time that this may take, imports and compilation included.

    Raises:
        InputError: the request is wrong, or the process ended without a report.
        LimitError: the time is over.
    """
    with TemporaryDirectory(prefix="mirrormata-vectors-") as folder:
        place = Path(folder)
        (place / REQUEST).write_text(json.dumps(asdict(request)), encoding="utf-8")
        (place / "path.json").write_text(json.dumps(sys.path), encoding="ascii")
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", START, folder],
            stdin=subprocess.PIPE,  # it stays open until the child is to end
            stdout=2,
            start_new_session=True,  # Ctrl-C is this process's alone
        )
        try:
            status = child.wait(timeout=max_seconds)
        except subprocess.TimeoutExpired:
            raise LimitError(
                f"{request.name}: it has not ended after {max_seconds:g} seconds (`max_seconds`); raise the limit, or run fewer "
                "families (`family`)"
            ) from None
        finally:
            _end(child)
        return _read(place / REPORT, request.name, status)


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the process, and those that it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):  # all have ended
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.wait()
    assert child.stdin is not None
    child.stdin.close()


def _read(path: Path, name: str, status: int) -> VectorReport:
    """The report of a process that has ended."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if "refused" in document:
            raise InputError(document["refused"])
        return _report_of(document)
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(
            f"{name}: the process that tested it {_ending(status)} before there was a verdict; call the function in a program of "
            "your own to see why"
        ) from None


def _ending(status: int) -> str:
    """How a process ended."""
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _report_of(document: dict[str, Any]) -> VectorReport:
    """A report of its `asdict`."""
    verdicts = []
    for one in document["verdicts"]:
        skipped = tuple(SkippedWords(x["reason"], tuple(x["words"])) for x in one["skipped"])
        verdicts.append(VectorVerdict(**{**one, "failed": tuple(one["failed"]), "skipped": skipped}))
    contract = Contract(**document["contract"])
    return VectorReport(document["operator"], contract, tuple(verdicts), document["overall"])


def main(folder: str) -> None:
    """Answer the request in a folder, in the process that is started for it.

    Args:
        folder: of the request, where the report is put.
    """
    _end_with_parent()
    place = Path(folder)
    request = Request(**json.loads((place / REQUEST).read_text(encoding="utf-8")))
    try:
        document: dict[str, Any] = asdict(_check(request))
    except MirrormataError as error:
        document = {"refused": str(error)}
    half = place / "report.part"
    half.write_text(json.dumps(document), encoding="utf-8")
    half.replace(place / REPORT)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the function replaced or closed it
            stream.flush()
    os._exit(0)  # whatever the function left running


def _end_with_parent() -> None:
    """End this process when the one that started it is gone; the function finds nothing on standard input."""
    pipe, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)

    def watch() -> None:
        while os.read(pipe, 1):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _check(request: Request) -> VectorReport:
    from ._check import check_vectors
    from ._runners import find_runner, load_function, load_runner

    runner = find_runner(request.name)
    function = load_function(request.name) if runner is None else load_runner(runner)
    return check_vectors(
        function,
        request.operator or ("gated_delta_rule" if runner is None else runner.operator),
        contract=contract_of(request),
        framework=request.framework or ("torch" if runner is None else runner.framework),
        device=request.device,
        families=request.families,
    )


def contract_of(request: Request) -> Contract:
    """The formats of a request: those that are given, and else those of the implementation.

    Args:
        request: the request.
    """
    from ._runners import find_runner

    runner = find_runner(request.name)
    return replace(Contract() if runner is None else runner.contracts[0], **request.formats)
