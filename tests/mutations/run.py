"""Runs every mutation of the trusted base: `python -m mirrormata.tests.mutations.run` (`make mutate`).

Each is made in a copy of the package of its own worker, then `mirrormata verify --quick --fail-fast` is run there, and
where that notices nothing, the test that the record names. What was noticed, by what, goes to `result.json`; a run of some
mutations replaces their results and keeps the others.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Queue

from ..theory.claims.claim_mutation import BROKEN
from .areas import AREAS
from .record import ROOT, VERIFY, Mutation

RESULT = Path(__file__).parent / "result.json"
FORMAT = "mirrormata-mutations/1"
LIMIT = 900
"""Seconds after which a run that has not ended counts as noticed: it was fast without the change."""
PARTS = {
    "arithmetic": "arithmetic",
    "checkers": "certificates",
    "proofs": "proofs",
    "impossibility": "impossibility",
    "bounds": "bounds",
    "kernel plans": "kernel_plans",
    "chains": "certificates",
    "blocks": "certificates",
    "decays": "certificates",
}
"""The part of the base that is about an area."""
CLAIMS = {
    "chains": ("own.chain", "own.window", "own.lookback"),
    "blocks": ("own.blocks",),
    "decays": ("own.decay", "own.definite"),
}
"""The claims about an area; all are among those of `verify --quick`."""
FIRST = """
import sys
from mirrormata.theory.base._base import PARTS, check_part
outcome = check_part(next(part for part in PARTS if part.module == sys.argv[1]))
print("" if outcome.sound else f"{outcome.part.id}: {outcome.reason}")
sys.exit(not outcome.sound)
"""
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "site", "build", "dist", "*.egg-info", "results", "notebooks", ".*"
)


@dataclass(frozen=True)
class Result:
    """`noticed_by`: `verify --quick`, a test, or `nothing`; `how`: what it said."""

    area: str
    target: str
    old: str
    new: str
    noticed_by: str
    how: str
    seconds: float
    equivalent_because: str

    @property
    def survived(self) -> bool:
        """Nothing noticed it, and there is no reason why nothing can."""
        return self.noticed_by == "nothing" and not self.equivalent_because


class Workplace:
    """A copy of the package, in which one mutation at a time is made."""

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        self.folder, self.package = folder, folder / "mirrormata"
        shutil.copytree(root, self.package, ignore=LEFT_OUT, symlinks=True)
        # no bytecode is written: a file that is changed twice in a second would be taken for the first change
        self.environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        self.environment |= {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}

    def notices(self, area: str, mutation: Mutation) -> Result:
        """Make the change, see what notices it, and take it back."""
        began = time.monotonic()
        file = mutation.place(self.package)[0]
        before = file.read_bytes()
        mutation.apply(self.package)
        try:
            by, how = VERIFY, self.verified(area)
            if how is None and mutation.noticed_by != VERIFY:
                by, how = mutation.noticed_by, self.tested(mutation.noticed_by)
            if how is None:
                by, how = "nothing", ""
            if any(f"{error}:" in how for error in BROKEN):
                by, how = "nothing", f"the changed program does not run: {how}"
        finally:
            file.write_bytes(before)
        seconds = round(time.monotonic() - began, 1)
        facts = mutation.target, mutation.old, mutation.new
        return Result(area, *facts, by, how, seconds, mutation.equivalent_because)

    def verified(self, area: str = "") -> str | None:
        """What `verify --quick` has found wrong; None where all is as expected.

        The part of the base and the claims that are about the area are looked at first: what is found there, `verify --quick` finds
        as well.
        """
        if area:
            status, out, _ = self.run(["-c", FIRST, PARTS[area]])
            if status == 1 and out:
                return out.strip()[:200]
        wrong = self.verified_claims(CLAIMS[area]) if area in CLAIMS else None
        return wrong or self.verified_claims(())

    def verified_claims(self, claims: tuple[str, ...]) -> str | None:
        """What `verify --quick` of some claims, or of all and the base, has found wrong; None where all is as expected."""
        command = ["-m", "mirrormata", "verify", *claims, "--quick", "--fail-fast", "--jobs", "1", "--json"]
        status, out, err = self.run(command)
        if status is None:
            return f"not through after {LIMIT} seconds"
        if status == 0:
            return None
        if not out.startswith("{"):
            return f"ends with {err.strip().splitlines()[-1:] or status}"
        found = json.loads(out)
        wrong = [f"{part['base']}: {part['reason']}" for part in found.get("base", ()) if not part["sound"]]
        rows = [row for row in found["claims"] if not row["as_expected"]]
        wrong += [f"{row['claim']}: {row['error'] or row['status']}" for row in rows]
        return wrong[0][:200]

    def tested(self, node: str) -> str | None:
        """The first line of what a test says that fails; None where it passes."""
        status, out, err = self.run(
            ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", node], self.package
        )
        if status is None:
            return f"not through after {LIMIT} seconds"
        if status == 0:
            return None
        if status != 1:
            raise RuntimeError(f"{node}: pytest ends with status {status}: {out[-500:]} {err[-500:]}")
        said = [line for line in out.splitlines() if line.startswith("E ")]
        return (said or ["fails"])[0].removeprefix("E").strip()[:200]

    def run(self, arguments: list[str], folder: Path | None = None) -> tuple[int | None, str, str]:
        """Python in the copy, or a folder of it: status (None: not through), and what it printed."""
        try:
            ended = subprocess.run(
                [sys.executable, *arguments], cwd=folder or self.folder, env=self.environment, capture_output=True, text=True,
                timeout=LIMIT, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None, "", ""
        return ended.returncode, ended.stdout, ended.stderr


def run_all(chosen: list[tuple[str, Mutation]], jobs: int) -> Iterator[Result]:
    """The results, as they come in."""
    with tempfile.TemporaryDirectory(prefix="mutations") as folder:
        free: Queue[Workplace] = Queue()
        for i in range(jobs):
            free.put(Workplace(Path(folder) / str(i)))

        def one(area: str, mutation: Mutation | None) -> Result | None:
            place = free.get()
            try:
                if mutation is not None:
                    return place.notices(area, mutation)
                wrong = place.verified()
                if wrong is not None:
                    raise RuntimeError(
                        f"nothing is changed, and verify --quick finds something wrong: {wrong}"
                    )
                return None
            finally:
                free.put(place)

        with ThreadPoolExecutor(jobs) as pool:
            unchanged = pool.submit(one, "", None)
            changed = [pool.submit(one, area, mutation) for area, mutation in chosen]
            for future in as_completed([unchanged, *changed]):
                result = future.result()
                if result is not None:
                    yield result


def counted(results: list[Result]) -> list[tuple[str, int, int, int, int, int]]:
    """By area, and for all: mutations, noticed by verify, by a test, equivalent, survived."""
    rows = []
    for area in (*AREAS, "all"):
        here = [r for r in results if area in (r.area, "all")]
        by_verify = sum(r.noticed_by == VERIFY for r in here)
        equivalent = sum(r.noticed_by == "nothing" and bool(r.equivalent_because) for r in here)
        survived = sum(r.survived for r in here)
        rows.append(
            (area, len(here), by_verify, len(here) - by_verify - equivalent - survived, equivalent, survived)
        )
    return rows


def table(results: list[Result]) -> str:
    """The rows of `counted` as a page has them."""
    lines = ["| area | mutations | noticed by `verify --quick` | by the named test | equivalent | survived |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: |")
    lines += [f"| {area} | {' | '.join(map(str, row))} |" for area, *row in counted(results) if row[0]]
    return "\n".join(lines)


def read_results(path: Path = RESULT) -> list[Result]:
    """The results that were written."""
    return [Result(**row) for row in json.loads(path.read_text(encoding="utf-8"))["results"]]


def write_results(results: list[Result], path: Path = RESULT) -> None:
    """One mutation a line."""
    rows = ",\n".join(json.dumps(asdict(r), ensure_ascii=False) for r in results)
    path.write_text(f'{{"format": "{FORMAT}", "results": [\n{rows}\n]}}\n', encoding="utf-8")


def _merge(fresh: list[Result], before: list[Result]) -> list[Result]:
    """The results of all mutations that there are, in their order; of those that were not run now, the earlier ones."""
    known = {(r.area, r.target, r.old, r.new): r for r in (*before, *fresh)}
    keys = ((area, m.target, m.old, m.new) for area, mutations in AREAS.items() for m in mutations)
    return [known[key] for key in keys if key in known]


def main() -> int:
    """0 where every mutation is noticed or equivalent."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--area", choices=list(AREAS), action="append", help="these areas alone")
    parser.add_argument("--only", metavar="TEXT", help="the mutations whose names contain it")
    parser.add_argument("--missing", action="store_true", help="only those that have no result yet")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    arguments = parser.parse_args()
    chosen = [
        (area, mutation)
        for area, mutations in AREAS.items()
        for mutation in mutations
        if area in (arguments.area or AREAS) and (arguments.only or "") in mutation.name
    ]
    before = read_results() if RESULT.exists() else []
    if arguments.missing:
        known = {(r.area, r.target, r.old, r.new) for r in before}
        chosen = [(a, m) for a, m in chosen if (a, m.target, m.old, m.new) not in known]
    results: list[Result] = []
    for result in run_all(chosen, arguments.jobs):
        results.append(result)
        write_results(_merge(results, before))  # so that an interrupted run loses nothing
        mark = "survived" if result.survived else result.noticed_by
        print(
            f"{len(results)}/{len(chosen)} {mark}: {result.target}: {result.old} -> {result.new}", flush=True
        )
        print(f"    {result.seconds:.0f} s; {result.how or result.equivalent_because}", flush=True)
    print(table(results))
    return int(any(result.survived for result in results))


if __name__ == "__main__":
    raise SystemExit(main())
