"""`mirrormata verify` and `mirrormata claims`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mirrormata.cli import main
from mirrormata.tests.theory.claims.test_claim_framework import TEMPLATE, write
from mirrormata.theory.verifying._registry import load_claims


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(str(stopped.value.code)), out, err


def test_verify_prints_what_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "verify", "g.t4", "G.T4.printed", "--quick", "--jobs", "1")
    assert status == 0
    assert "2 claims: 1 supported by instances, 1 refuted; all as recorded" in out.replace("\n", " ")
    assert "supported by 20" in out
    assert "refuted" in out


def test_json_has_the_fields_that_others_rely_on(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "verify", "--source", "KR", "--quick", "--jobs", "1", "--json")
    assert (status, err) == (0, "")
    (row,) = json.loads(out)["claims"]
    assert {"claim", "status", "cases", "arithmetic", "evidence", "seconds"} <= set(row)
    assert (row["claim"], row["status"], row["cases"], row["as_expected"]) == ("KR", "exhaustive", 378, True)
    assert "kind" not in row


def test_exit_status_1_where_a_verdict_is_not_as_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "my.wrong", body="return decide_values(CLAIM, computed=1, claimed=2)")
    write(tmp_path, "my.error", body="raise RuntimeError('why')")
    status, out, err = run(capsys, "verify", "my.wrong", "my.error", "--path", str(tmp_path), "--jobs", "1")
    assert (status, err) == (1, "")
    assert "2 claims: 1 refuted, 1 unknown; not as recorded: my.wrong, my.error" in out
    assert "RuntimeError: why" in out


def test_a_spent_budget_is_unknown_and_exit_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "verify", "KR", "--budget", "0.05", "--jobs", "1")
    assert status == 1
    assert "the budget was spent" in out
    assert "1 claim; 1 not through within the budget" in out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["verify"], "give IDs, --all, --quick"),
        (["verify", "G.T99"], "claim 'G.T99': there is none of this name"),
        (["verify", "--source", "XX"], "--source XX: no claims; there are CK, DP"),
        (["verify", "--all", "--quick"], "--all checks all claims with full effort"),
        (["verify", "G.T4", "--budget", "0"], "--budget 0: give a number of seconds above 0"),
        (["verify", "--model", "nosuch"], "nosuch"),
        (["verify", "--model", "nosuch.npz"], "no such file"),
        (["verify", "--quick", "--path", "nowhere"], "--path nowhere: no folder with claims"),
        (["verify", "own.R1", "--quick"], "own.R1 is now PT.R1"),
        (["claims", "--show", "OWN.r2"], "own.R2 is now PT.R2"),
        (["claims", "--show", "G.T99"], "there is none of this name"),
        (["claims", "--graph", "graph.txt"], "pictures are written as .svg or .png"),
        (["claims", "KR", "--source", "G"], "leave one of them out"),
        (["claims", "G.T33", "KR", "CK.S6"], "did you mean G.T3?"),
        (["claims", "G.T33", "KR", "CK.S6"], "did you mean CK.S5?"),
        (["claims", "--show", ""], "claim '': there is none of this name"),
        (["claims", "--source", ""], "--source : no claims; there are CK, DP"),
        (["verify", "--source", ""], "--source : no claims; there are CK, DP"),
        (["verify", "--model", ""], "is not a name of the library"),
    ],
)
def test_bad_input_is_one_line_and_exit_status_2(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert reason in err


def test_models_and_automata_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("c.json", "c.npz"):
        command = ["construct", "S3"] if name == "c.json" else ["export", "npz", str(tmp_path / "c.json")]
        run(capsys, *command, "-o", str(tmp_path / name))
        status, out, _ = run(capsys, "verify", "--model", str(tmp_path / name), "--json")
        found = {row["claim"]: row["status"] for row in json.loads(out)["claims"]}
        assert (status, set(found.values())) == (0, {"proved"})
        assert "G.P1.1" in found
    status, out, _ = run(capsys, "verify", "--model", "tomita:3", "own.LMI", "--json")
    assert [row["claim"] for row in json.loads(out)["claims"]] == ["own.LMI"]


def test_claims_are_explained_by_their_ids(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "claims", "ck.s5", "H.rank", "CK.S5")
    assert (status, err) == (0, "")
    assert [line for line in out.splitlines() if line[:1] in "CH" and ": " in line] == [
        "CK.S5: S_5 with a letter of order 5 needs four factors in one layer",
        "H.rank: rank(C_k···C_1 - I) ≤ k, attained by orthogonal maps",
    ]
    assert run(capsys, "claims", "--show", "H.rank")[1] == run(capsys, "claims", "H.rank")[1]


def test_the_claims_that_are_proved_in_coq(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(run(capsys, "claims", "--coq", "--json")[1])["claims"]
    assert {row["coq"] for row in rows} == {"yes", "part"}
    assert all(row["formal"] for row in rows)
    everything = json.loads(run(capsys, "claims", "--json")[1])["claims"]
    assert {row["coq"] for row in everything} == {"yes", "part", None}
    status, out, _ = run(capsys, "claims", "--source", "own")
    assert status == 0
    assert "a theorem in Coq states it" in " ".join(out.split())
    assert "leave one of them out" in run(capsys, "claims", "--coq", "H.rank")[2]


def test_the_heading_says_by_which_column_it_counts(capsys: pytest.CaptureFixture[str]) -> None:
    claims = [entry.claim for entry in load_claims() if entry.claim.formal]
    heading = " ".join(run(capsys, "claims", "--coq")[1].partition("\n\n")[0].split())
    found = re.fullmatch(r"(\d+) claims; recorded: (\d+) proved, .*; Coq: (\d+) yes, (\d+) part", heading)
    assert found is not None, heading
    counts = [len(claims), sum(claim.expected == "proved" for claim in claims)]
    counts += [sum(claim.coq == word for claim in claims) for word in ("yes", "part")]
    assert [int(n) for n in found.groups()] == counts


def test_every_theorem_of_a_construction_or_a_bound_is_a_claim(capsys: pytest.CaptureFixture[str]) -> None:
    from mirrormata.constructions.theorems._registry import all_constructions
    from mirrormata.theory.checker.bound import RULES

    sources = {c.source for c in all_constructions().values()} | {reason for _, reason in RULES}
    status, _, err = run(capsys, "claims", *sorted(sources - {"own.n-1"}), "--json")
    assert status == 0, err
    assert "write G.T4" in run(capsys, "claims", "own.n-1")[2]


def test_a_claim_is_explained_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "claims", "DP.T7.printed", "--graph", str(tmp_path / "g.svg"))
    assert status == 0
    for part in ("statement", "hypotheses", "direction", "in its place", "DP.T7"):
        assert part in out
    assert "written" in err
    drawing = (tmp_path / "g.svg").read_text(encoding="utf-8")
    assert "DP.T7" in drawing
    assert "CK.1 " not in drawing
    status, out, _ = run(capsys, "claims", "--json", "--path", str(TEMPLATE.parent))
    rows = {row["claim"]: row for row in json.loads(out)["claims"]}
    assert rows["my.involutions"]["uses"] == ["H.rank"]
    assert "my.involutions" in rows["H.rank"]["used_by"]


def test_as_a_program_over_processes(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "mirrormata",
        "verify",
        "G.S32",
        "G.S32.printed",
        "--quick",
        "--jobs",
        "2",
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [row["status"] for row in json.loads(done.stdout)["claims"]] == ["exhaustive", "refuted"]


def test_an_interrupt_ends_all_processes_at_once(tmp_path: Path) -> None:
    write(tmp_path, "my.slow", body="time.sleep(60)")
    write(tmp_path, "my.slower", body="time.sleep(60)")
    command = [
        sys.executable,
        "-m",
        "mirrormata",
        "verify",
        "my.slow",
        "my.slower",
        "--path",
        str(tmp_path),
        "--jobs",
        "2",
    ]
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        running = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    finally:
        signal.signal(signal.SIGINT, handler)
    time.sleep(4)
    os.killpg(running.pid, signal.SIGINT)
    out, _ = running.communicate(timeout=20)
    assert (running.returncode, out) == (130, b"")
