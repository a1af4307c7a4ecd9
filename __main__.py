"""What Python runs for `python -m mirrormata`."""

from .cli import main

main()
