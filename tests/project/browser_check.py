"""What the page that checks certificates in the browser calls: a certificate's text to a verdict, by the stand-alone checkers alone.

The site holds this file beside the checkers' package, which is called `checker` there.
"""

from __future__ import annotations

import gc
from importlib import import_module
from pathlib import Path

KINDS = sorted(path.stem for path in Path(__file__).with_name("checker").glob("[!_]*.py"))


def check_text(text: str) -> tuple[str, str, str]:
    """`valid`, `invalid` or `unknown`; what was checked or what is wrong; and what a valid certificate calls its automaton.

    Args:
        text: the JSON text of a certificate.
    """
    parse = import_module("checker._program").parse
    invalid: type[Exception] = import_module("checker._exact").Invalid
    gc.disable()  # as in the checkers' own programs
    try:
        document = parse(text)
        kind = document.get("kind") if isinstance(document, dict) else None
        if kind not in KINDS:
            return "unknown", f"no certificate of a kind that has a checker: {', '.join(KINDS)}", ""
        reason = import_module(f"checker.{kind}").check(document)
        return "valid", reason, str(document["labels"].get("automaton", ""))
    except invalid as wrong:
        return "invalid", str(wrong), ""
    except MemoryError:
        return "unknown", "the browser has not enough memory for it: use `mirrormata check`", ""
    finally:
        gc.enable()
