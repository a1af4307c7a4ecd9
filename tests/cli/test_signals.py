"""Signals as exceptions: held back, hidden, swallowed, and with what was kept."""

# ruff: noqa: PT012 (what raises is the end of the block, after several statements)

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mirrormata.foundation._files import list_written, whole_file, whole_folder, write_text
from mirrormata.foundation._interrupting import (
    SIGNALS,
    Interrupted,
    catch_signals,
    describe_interrupt,
    hold_interrupts,
    interrupt_behind,
    received_signal,
    take_interrupt,
)


@pytest.fixture(autouse=True)
def python_handlers() -> Iterator[None]:
    """The handlers of a program in the foreground: one that is started in the background may ignore signals."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def wait(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_is_an_exception(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(Interrupted) as found, catch_signals():
        signal.raise_signal(number)
    assert found.value.number == number
    assert signal.getsignal(number) is before
    cause = "interrupted" if number == signal.SIGINT else f"interrupted by {number.name}"
    assert describe_interrupt(found.value, "nothing was written") == f"{cause}: nothing was written"
    found.value.add_note("step 3 is saved")
    assert describe_interrupt(found.value, "nothing was written") == f"{cause}: step 3 is saved"


def test_a_swallowed_signal_comes_again() -> None:
    with pytest.raises(Interrupted), catch_signals():
        with contextlib.suppress(BaseException):  # as a library may do
            signal.raise_signal(signal.SIGTERM)
        wait(10)
        pytest.fail("the signal was lost")


@pytest.mark.parametrize("ignored", [[], [signal.SIGINT]], ids=["in the foreground", "in the background"])
def test_one_that_was_taken_does_not(ignored: list[signal.Signals]) -> None:
    """A program in the background ignores Ctrl-C."""
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    with catch_signals() as signals:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            take_interrupt()
        wait(1.5)
        assert signals.received == received_signal() == signal.SIGTERM
        for number in ignored:
            signal.raise_signal(number)  # still ignored


def test_nor_does_one_that_somebody_still_handles() -> None:
    with pytest.raises(Interrupted), catch_signals():
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            wait(1.5)  # saves something
            raise


def test_one_in_a_finalizer_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    class Finalized:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted), catch_signals():
        Finalized()
        wait(10)
        pytest.fail("the signal was lost")
    assert capsys.readouterr().err == ""


def test_one_that_python_renames_is_found() -> None:
    class Descriptor:
        def __set_name__(self, owner: type, name: str) -> None:
            signal.raise_signal(signal.SIGTERM)

    with catch_signals(), pytest.raises(BaseException) as found:
        type("Owner", (), {"entry": Descriptor()})
    assert isinstance(interrupt_behind(found.value, signal.SIGTERM), Interrupted)


def test_signals_are_held_back() -> None:
    done = []
    with pytest.raises(Interrupted) as found, catch_signals(), hold_interrupts() as held:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        done.append(list(held.arrived))
    assert done == [[signal.SIGINT, signal.SIGTERM]]
    assert found.value.number == signal.SIGTERM


def test_a_second_ctrl_c_is_not_held_back_where_that_is_asked_for() -> None:
    done = []
    with pytest.raises(Interrupted), catch_signals(), hold_interrupts(insistent=True):
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        done.append(1)
        signal.raise_signal(signal.SIGINT)
        done.append(2)
    assert done == [1]


def test_without_the_program_ctrl_c_is_held_back_too(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "file") as temporary:
        signal.raise_signal(signal.SIGINT)
        temporary.write_text("whole")
    assert (tmp_path / "file").read_text() == "whole"
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_folder_is_whole_or_absent_and_the_old_one_stays(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    with list_written() as written:
        with whole_folder(target, "test", lambda _: True) as place:
            write_text(place / "a", "1")
        assert written == [str(target)]
        with (
            pytest.raises(Interrupted),
            catch_signals(),
            whole_folder(target, "test", lambda _: True) as place,
        ):
            write_text(place / "a", "2")
            signal.raise_signal(signal.SIGTERM)
    assert (target / "a").read_text() == "1"
    assert list(tmp_path.iterdir()) == [target]
