"""`python -m mirrormata`."""

from .cli import main

main()
