"""The program `mirrormata`, also as `python -m mirrormata`."""

from __future__ import annotations

import sys

from .foundation._interrupting import catch_signals, describe_interrupt, ignore_signals, number_of


def main() -> None:
    """Run the command line; signals are caught before it is loaded."""
    with catch_signals(at_once_afterwards=True):
        try:
            from .cli import main as run_commands
        except KeyboardInterrupt as stop:
            with ignore_signals():
                print(describe_interrupt(stop, "nothing was written"), file=sys.stderr)
            raise SystemExit(128 + number_of(stop)) from None
        run_commands()


if __name__ == "__main__":
    main()
