"""One tool writes machines to files, or reads files: a program of `exchange.py`, run by the interpreter that has the tool.

It reads one JSON document, `{"tool": NAME, "format": NAME, "tasks": [{"do": "write" or "read", "path": ..., "machine": ..., "kind": ...}]}`,
from its standard input, and prints a line of JSON for each task. It imports nothing of the package.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from . import drawings, libraries, transducers
from .parts import Read, Write, call

TOOLS: dict[tuple[str, str], tuple[str, Write | None, Read | None]] = {
    ("AALpy", "dot"): ("aalpy", libraries.write_aalpy, libraries.read_aalpy),
    ("automata-lib", "json"): ("automata-lib", libraries.write_automata_lib_json, None),
    ("automata-lib", "dot"): ("automata-lib", libraries.write_automata_lib_dot, None),
    ("pyformlang", "dot"): ("pyformlang", libraries.write_pyformlang, None),
    ("FAdo", "fa"): ("fado", libraries.write_fado, libraries.read_fado),
    ("FAdo", "dot"): ("fado", libraries.write_fado_dot, None),
    ("graphviz for Python", "gv"): ("graphviz", drawings.write_graphviz, None),
    ("graphviz, dot -Tdot", "dot"): ("dot -V", drawings.write_by_program("dot"), None),
    ("graphviz, dot -Tgv", "gv"): ("dot -V", drawings.write_by_program("gv"), None),
    ("graphviz, dot -Tcanon", "gv"): ("dot -V", drawings.write_by_program("canon"), None),
    ("graphviz, dot -Txdot", "gv"): ("dot -V", drawings.write_by_program("xdot"), None),
    ("networkx with pydot", "dot"): ("networkx", drawings.write_pydot, None),
    ("networkx with pygraphviz", "dot"): ("networkx", drawings.write_pygraphviz, None),
    ("OpenFst, fstprint", "att"): (
        "dpkg libfst-tools",
        transducers.by_openfst("fstprint"),
        transducers.read_openfst,
    ),
    ("OpenFst, fstdraw", "dot"): ("dpkg libfst-tools", transducers.by_openfst("fstdraw"), None),
    ("pynini", "att"): ("pynini", transducers.write_pynini, None),
    ("HFST for Python", "att"): ("hfst", transducers.write_hfst, transducers.read_hfst),
    ("HFST, hfst-fst2txt", "att"): ("dpkg hfst", transducers.write_hfst_program, None),
    ("foma", "att"): ("foma -v", transducers.write_foma, transducers.read_foma),
    ("pyfoma", "att"): ("pyfoma", transducers.write_pyfoma, None),
    ("kfst", "att"): ("kfst", transducers.write_kfst, None),
    ("GAP, automata", "g"): ("gap", libraries.write_gap_automaton, None),
    ("greenery", "regex"): ("greenery", libraries.write_greenery, None),
    ("dfa", "dot"): ("dfa", libraries.write_dfa_dot, None),
    ("tock", "csv"): ("tock", libraries.write_tock, None),
    ("tock", "dot"): ("tock", libraries.write_tock, None),
    ("dk.brics.automaton", "dot"): ("dpkg libautomaton-java", libraries.write_brics, None),
}
"""Where the version of a tool is found, how it writes and how it reads; None where it does not."""


def version_of(where: str) -> str:
    """The version of a package, or in what a program prints."""
    if where == "gap":
        return call([*libraries.GAP, "-A", "-q"], "Print(GAPInfo.Version);QUIT;\n").strip()
    if " " not in where:
        return version(where)
    if where.startswith("dpkg "):
        return call(["dpkg-query", "-W", "-f=${Version}", where.removeprefix("dpkg ")])
    made = subprocess.run(where.split(), capture_output=True, text=True, check=False, timeout=60)
    found = re.search(r"\d+(\.\d+)+", made.stdout + made.stderr)
    return found[0] if found else "unknown"


def main() -> None:
    """Carry out the tasks of the document on the standard input."""
    given = json.load(sys.stdin)
    libraries.GAP[:] = given.get("gap", libraries.GAP)
    where, write, read = TOOLS[given["tool"], given["format"]]
    try:
        print(json.dumps({"version": version_of(where)}), flush=True)
    except Exception as error:
        print(json.dumps({"missing": str(error)}), flush=True)
        return
    for task in given["tasks"]:
        try:
            if task["do"] == "write":
                assert write is not None
                write(task["machine"], Path(task["path"]))
                made: Any = {"done": True}
            else:
                assert read is not None
                made = {"machine": read(Path(task["path"]), task["kind"])}
        except Exception as error:
            made = {"failed": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(made), flush=True)


if __name__ == "__main__":
    main()
