"""The program `mirrormata`, also as `python -m mirrormata`."""

from __future__ import annotations

import sys

from .foundation._interrupting import (
    catch_signals,
    describe_interrupt,
    ignore_signals,
    interrupt_behind,
    number_of,
    take_interrupt,
)


def main() -> None:
    """Run the command line; signals are caught before it is loaded."""
    with catch_signals(at_once_afterwards=True) as signals:
        try:
            from .cli import main as run_commands
        except BaseException as error:
            if signals.received is None:
                raise
            stop = interrupt_behind(error, signals.received)
            take_interrupt()
            with ignore_signals():
                print(describe_interrupt(stop, "nothing was written"), file=sys.stderr)
            raise SystemExit(128 + number_of(stop)) from None
        run_commands()


if __name__ == "__main__":
    main()
