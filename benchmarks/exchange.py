"""Random automata that other tools write, read and compared on all words; and files of this package, read by those tools.

    python -m mirrormata.benchmarks.exchange -o FILE.json [--tools-python PYTHON] [--gap COMMAND] [--only NAME ...] [--keep FOLDER]
    python -m mirrormata.benchmarks.exchange --table FILE.json

PYTHON is the interpreter that has the tools for Python (AALpy, FAdo, pyformlang, ...), by default this one; the other programs
(`dot`, `fstprint`, `foma`, ...) are found on the PATH. What is not there is said in a line and left out: rows of it that FILE.json has
already are kept. Two machines are compared by a search of the pairs of their states, which shares no code with the package.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mirrormata import Automaton, automaton_from_spec
from mirrormata.benchmarks.exchange_machines import (
    LETTERS,
    SHAPES,
    Machine,
    draw_machines,
    find_difference,
    machine_of,
)
from mirrormata.benchmarks.machine import installed
from mirrormata.constructions import from_regex
from mirrormata.foundation._errors import MirrormataError
from mirrormata.foundation._files import write_text

FORMAT = "mirrormata-exchange/1"
PROBE = "exchange_probe"
"""The program beside this file that runs where the tools are."""
SINGLE = ("letters", "digits", "unicode one")
NO_BLANKS = ("letters", "digits", "words", "commas", "signs", "quotes one", "unicode", "escapes", "many")
ALL = tuple(LETTERS)


class Exchange(NamedTuple):
    """One tool and one of its formats.

    Attributes:
        kinds: of machines that the format holds.
        families: of letters that the format holds.
        leave_out: shapes that the tool does not have.
        numbered: states have no names there.
        split: the answer to `--split` where one label may be several letters.
        back: the tool reads what the package writes.
    """

    kinds: tuple[str, ...] = ("acceptor",)
    families: tuple[str, ...] = ALL
    leave_out: tuple[str, ...] = ()
    numbered: bool = False
    split: str | None = None
    back: bool = False


UNEXPLAINED = "unexplained"
DRAWN: defaultdict[tuple[str, str], str] = defaultdict(lambda: UNEXPLAINED)
"""Why a drawing of a tool that graphviz reads does not hold every machine."""
DRAWN["automata-lib", "dot"] = "it draws letters with commas between them, also those that have commas"

DETERMINISTIC = ("nondeterministic", "empty moves")
OUTPUTS = ("acceptor", "mealy")
EXCHANGES: dict[tuple[str, str], Exchange] = {
    ("AALpy", "dot"): Exchange(("acceptor", "moore", "mealy"), leave_out=DETERMINISTIC, split="none", back=True),
    ("automata-lib", "json"): Exchange(),
    ("automata-lib", "dot"): Exchange(split=","),
    ("pyformlang", "dot"): Exchange(split="none"),
    ("FAdo", "fa"): Exchange(back=True),
    ("FAdo", "dot"): Exchange(split=","),
    ("graphviz for Python", "gv"): Exchange(OUTPUTS, split="none"),
    ("graphviz, dot -Tdot", "dot"): Exchange(OUTPUTS, split="none"),
    ("graphviz, dot -Tgv", "gv"): Exchange(OUTPUTS, split="none"),
    ("graphviz, dot -Tcanon", "gv"): Exchange(OUTPUTS, split="none"),
    ("graphviz, dot -Txdot", "gv"): Exchange(OUTPUTS, split="none"),
    ("networkx with pydot", "dot"): Exchange(OUTPUTS, split="none"),
    ("networkx with pygraphviz", "dot"): Exchange(OUTPUTS, split="none"),
    ("OpenFst, fstprint", "att"): Exchange(OUTPUTS, NO_BLANKS, numbered=True, back=True),
    ("OpenFst, fstdraw", "dot"): Exchange(OUTPUTS, NO_BLANKS, numbered=True, split="none"),
    ("pynini", "att"): Exchange(OUTPUTS, NO_BLANKS, numbered=True),
    ("HFST for Python", "att"): Exchange(OUTPUTS, numbered=True, back=True),
    ("HFST, hfst-fst2txt", "att"): Exchange(OUTPUTS, numbered=True),
    ("foma", "att"): Exchange(OUTPUTS, numbered=True, back=True),
    ("pyfoma", "att"): Exchange(OUTPUTS, numbered=True),
    ("kfst", "att"): Exchange(OUTPUTS, numbered=True),
    ("GAP, automata", "g"): Exchange(families=("letters", "digits"), numbered=True),
    ("greenery", "regex"): Exchange(families=("letters", "digits"), leave_out=DETERMINISTIC),
    ("dfa", "dot"): Exchange(leave_out=(*DETERMINISTIC, "partial"), split="none"),
    ("tock", "csv"): Exchange(),
    ("tock", "dot"): Exchange(split="none"),
    ("dk.brics.automaton", "dot"): Exchange(families=("letters", "digits"), numbered=True),
}  # fmt: skip


def measure(tool: str, kind_of_file: str, given: argparse.Namespace) -> dict[str, Any]:
    """Exchange all machines with one tool in one format.

    Args:
        tool: the tool's name.
        kind_of_file: the extension, or `regex`.
        given: the arguments of `main`.

    Returns:
        The row; with the key `missing` if the tool is not there.
    """
    exchange = EXCHANGES[tool, kind_of_file]
    machines = [
        machine
        for kind in exchange.kinds
        for machine in draw_machines(
            kind,
            [x for x in exchange.families if x in LETTERS],
            [x for x in SHAPES[kind] if x not in exchange.leave_out],
            given.seed,
            exchange.numbered,
        )
    ]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(given.keep or temporary) / f"{tool}-{kind_of_file}".replace(" ", "_")
        folder.mkdir(parents=True, exist_ok=True)
        read, what, version = _theirs(tool, kind_of_file, machines, folder, given)
        if version is None:
            return {"tool": tool, "format": kind_of_file, "missing": what[0]}
        row: dict[str, Any] = {
            "tool": tool, "format": kind_of_file, "version": version, "machines": len(machines), "read": dict(read),
            "messages": what,
        }  # fmt: skip
        reasons = Counter({DRAWN[tool, kind_of_file]: read["different"]} if read["different"] else {})
        if exchange.back:
            written, failures, found = _ours(tool, kind_of_file, machines, folder, given)
            row |= {"written": dict(written), "failures": failures}
            reasons += found
        row["reasons"] = dict(reasons)
    return row


def _theirs(
    tool: str, kind_of_file: str, machines: Sequence[Machine], folder: Path, given: argparse.Namespace
) -> tuple[Counter[str], list[str], str | None]:
    """What became of the files that the tool wrote, some messages, and the tool's version."""
    paths = [folder / f"{i}.{kind_of_file}" for i in range(len(machines))]
    tasks = [{"do": "write", "path": str(p), "machine": m} for p, m in zip(paths, machines, strict=True)]
    first, *answers = run_probe(tool, kind_of_file, tasks, given)
    if "version" not in first:
        return Counter(), [first.get("missing", "")], None
    exchange = EXCHANGES[tool, kind_of_file]
    tasks = [{"do": "read", "path": str(p), "kind": m["kind"]} for p, m in zip(paths, machines, strict=True)]
    own = run_probe(tool, kind_of_file, tasks, given)[1:] if exchange.back else [None] * len(tasks)
    results, messages = Counter[str](), dict[str, None]()
    for path, machine, answer, again in zip(paths, machines, answers, own, strict=True):
        if "failed" in answer:
            found, message = "not written", str(answer["failed"])
        else:
            found, message = read_and_compare(path, machine, exchange.split)
            if found in ("refused", "different") and not is_kept(path, machine, again):
                found = "not in the file"
        results[found] += 1
        if message:
            where = f"{machine['kind']}, {machine['family']}, {machine['shape']}"
            messages[f"{found} ({where}): {message}".replace(f"{path}: ", "")] = None
            if given.keep:
                print("   ", path.name, next(reversed(messages)))
    return results, list(messages)[:20], first["version"]


def read_and_compare(path: Path, machine: Machine, split: str | None) -> tuple[str, str]:
    """Read a file, at the second try with the answer `split`, and compare it with the machine: what was found, and a message."""
    try:
        return _compare(_read(path, machine, None), machine, "equal")
    except MirrormataError as error:
        first = str(error)
    if split is None or "split" not in first:
        return "refused", first
    try:
        return _compare(_read(path, machine, split), machine, "equal with --split")
    except MirrormataError as error:
        return "refused", str(error)


def _read(path: Path, machine: Machine, split: str | None) -> Automaton:
    if path.suffix == ".regex":
        return from_regex(path.read_text(encoding="utf-8"), alphabet="".join(machine["letters"]))
    return automaton_from_spec(
        str(path), track="state" if machine["kind"] != "acceptor" else None, split=split
    )


def _compare(automaton: Automaton, machine: Machine, equal: str) -> tuple[str, str]:
    difference = find_difference(machine, machine_of(automaton))
    if difference is None:
        return equal, ""
    said = [
        note
        for note in automaton.notes
        if re.search("is read|are read|its own output|not kept|stands for|the start is", note)
    ]
    return ("otherwise, said", f"{difference}; {said[0]}") if said else ("different", difference)


def is_kept(path: Path, machine: Machine, again: dict[str, Any] | None) -> bool:
    """Whether the file holds the machine: graphviz reads the drawing, and the tool its own file as the same machine.

    Args:
        path: the file.
        machine: what the tool was given.
        again: what the tool said of its own file; None if it was not asked.
    """
    if path.suffix in (".dot", ".gv"):
        made = subprocess.run(["dot", "-Tcanon", str(path)], capture_output=True, check=False)
        if made.returncode or made.stderr:
            return False
    return again is None or ("machine" in again and find_difference(machine, again["machine"]) is None)


def _ours(
    tool: str, kind_of_file: str, machines: Sequence[Machine], folder: Path, given: argparse.Namespace
) -> tuple[Counter[str], list[str], Counter[str]]:
    """What the tool made of the files that the package wrote, some messages, and the reasons of what differs."""
    results, messages, tasks, sources = Counter[str](), dict[str, None](), [], []
    reasons = Counter[str]()
    for i, machine in enumerate(machines):
        source = folder / f"source{i}.json"
        automaton = _automaton(machine, source)
        path = folder / f"ours{i}.{kind_of_file}"
        try:
            automaton.save(path)
        except MirrormataError as error:
            results["refused"] += 1
            messages[f"refused ({machine['family']}): {error}".replace(f"{path}: ", "")] = None
            continue
        tasks.append({"do": "read", "path": str(path), "kind": machine["kind"]})
        sources.append(machine_of(automaton))
    _, *answers = run_probe(tool, kind_of_file, tasks, given)
    for source_machine, task, answer in zip(sources, tasks, answers, strict=True):
        if "failed" in answer:
            found, message = "not read", answer["failed"]
        else:
            difference = find_difference(source_machine, answer["machine"])
            found, message = ("equal", "") if difference is None else ("different", difference)
        results[found] += 1
        if message:
            reasons[_reason(tool, source_machine, answer)] += 1
            messages[f"{found}: {message}"] = None
            if given.keep:
                print("   ", Path(str(task["path"])).name, found, message)
    return results, list(messages)[:20], reasons


def _reason(tool: str, source: Machine, answer: dict[str, Any]) -> str:
    """Why a tool reads a written file as something else, as far as that can be checked."""
    if tool != "AALpy":
        return UNEXPLAINED
    if "machine" in answer and find_difference(source, _without_backslashes(answer["machine"])) is None:
        return "it keeps the backslash before a sign"
    if any('"' in x for x in source["letters"]):
        return "it ends a label at any quote"
    slash = source["kind"] == "mealy" and any("/" in x for x in source["letters"])
    return "it ends an input at the first slash" if slash else UNEXPLAINED


def _without_backslashes(machine: Machine) -> Machine:
    """A machine whose letters and outputs have lost the backslashes that make signs themselves."""

    def plain(text: Any) -> Any:
        return re.sub(r"\\(.)", r"\1", text) if isinstance(text, str) else text

    return machine | {
        "letters": [plain(x) for x in machine["letters"]],
        "outputs": [plain(x) for x in machine["outputs"]],
        "arcs": [[p, plain(x), r, plain(output)] for p, x, r, output in machine["arcs"]],
    }


def _automaton(machine: Machine, source: Path) -> Automaton:
    """The machine as an automaton, by way of a `.json` file, with states that are numbers."""
    rows: dict[str, dict[str, Any]] = {str(q): {} for q in range(len(machine["states"]))}
    mealy: dict[str, dict[str, Any]] = {q: {} for q in rows}
    several = machine["shape"] in ("nondeterministic", "empty moves")
    for p, x, r, output in machine["arcs"]:
        if several:
            rows[str(p)].setdefault("" if x is None else x, []).append(str(r))
        else:
            rows[str(p)][x] = str(r)
            mealy[str(p)][x] = output
    document: dict[str, Any] = {"states": list(rows), "transitions": rows}
    accepting = [str(q) for q in machine["accepting"]]
    if several:
        document |= {"input_symbols": machine["letters"], "initial_state": "0", "final_states": accepting}
    else:
        document |= {"letters": machine["letters"], "start": "0"}
        if machine["kind"] == "acceptor":
            document["accepting"] = accepting
        elif machine["kind"] == "moore":
            document["outputs"] = dict(zip(rows, machine["outputs"], strict=True))
        else:
            document["mealy"] = mealy
    source.write_text(json.dumps(document), encoding="utf-8")
    read = automaton_from_spec(str(source))
    return read.relabel_states() if hasattr(read, "relabel_states") else read


def run_probe(
    tool: str, kind_of_file: str, tasks: list[dict[str, Any]], given: argparse.Namespace
) -> list[dict[str, Any]]:
    """What `exchange_probe` says: the version first, then an answer for each task."""
    document = {"tool": tool, "format": kind_of_file, "tasks": tasks, "gap": shlex.split(given.gap)}
    made = subprocess.run(
        [given.tools_python, "-P", "-m", PROBE], input=json.dumps(document), capture_output=True, text=True, check=False,
        encoding="utf-8", timeout=900, env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
    )  # fmt: skip
    lines = [json.loads(line) for line in made.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return [{"missing": (made.stderr.strip().splitlines() or ["it says nothing"])[-1]}]
    stopped = {"failed": (made.stderr.strip().splitlines() or ["it stopped"])[-1][:200]}
    return lines + [stopped] * (1 + len(tasks) - len(lines))


HEAD = (
    "tool", "format", "files", "read as written", "otherwise, said", "not in the file", "refused", "different", "read by the tool",
    "refused", "different", "why different",
)  # fmt: skip
"""Of the files that a tool wrote, five counts; of those that the package wrote, three."""


def table_rows(rows: Sequence[dict[str, Any]]) -> list[list[object]]:
    """The cells of the table of the pages, one row a tool and format.

    Args:
        rows: of the document that `main` writes.
    """
    cells: list[list[object]] = []
    for row in rows:
        read, written = Counter(row["read"]), Counter(row.get("written", {}))
        equal = read["equal"] + read["equal with --split"]
        back: list[object] = ["", "", ""]
        if written:
            back = [written["equal"], written["refused"], written["different"] + written["not read"]]
        form = "pattern" if row["format"] == "regex" else f"`.{row['format']}`"
        counts = [read[key] for key in ("otherwise, said", "not in the file", "refused", "different")]
        reasons = "; ".join(f"{count}: {reason}" for reason, count in row["reasons"].items())
        files = row["machines"] - read["not written"]
        cells.append([f"{row['tool']} {row['version']}", form, files, equal, *counts, *back, reasons])
    return cells


def main() -> int:
    """Exchange and write, or print the table of what was written."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.json")
    parser.add_argument("--tools-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--gap", default="gap", metavar="COMMAND")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="tools")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", metavar="FOLDER", help="keep the files, and print what is not equal")
    parser.add_argument("--table", type=Path, metavar="FILE.json")
    given = parser.parse_args()
    if given.table:
        for cells in (HEAD, *table_rows(json.loads(given.table.read_text(encoding="utf-8"))["rows"])):
            print(*cells, sep=" | ")
        return 0
    known: dict[tuple[str, str], dict[str, Any]] = {}
    if given.output and given.output.exists():
        known = {
            (r["tool"], r["format"]): r for r in json.loads(given.output.read_text(encoding="utf-8"))["rows"]
        }
    for tool, kind_of_file in EXCHANGES:
        if given.only and tool not in given.only:
            continue
        row = measure(tool, kind_of_file, given)
        if "missing" in row:
            print(f"{tool}: not there, left out ({row['missing']})")
            continue
        known[tool, kind_of_file] = row
        print(*table_rows([row])[0], sep=" | ", flush=True)
        if given.output:
            rows = [known[key] for key in EXCHANGES if key in known]
            document = {
                "format": FORMAT,
                "mirrormata": installed("mirrormata"),
                "seed": given.seed,
                "rows": rows,
            }
            write_text(given.output, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
