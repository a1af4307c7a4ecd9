"""The registry, the evidence of claims, budgets and processes: what they refuse, and what they report."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from mirrormata.foundation._errors import InputError
from mirrormata.theory.verifying._claim import QUICK, Claim, Effort, file_stem
from mirrormata.theory.verifying._evidence import (
    check_all_cases,
    check_random_cases,
    cite_source,
    decide_values,
    refute_by_witness,
)
from mirrormata.theory.verifying._registry import claim_text, load_claims
from mirrormata.theory.verifying._verify import verify_claims, verify_one

ROOT = Path(__file__).resolve().parents[3]
CLAIM = Claim("my.claim", "what", "proved")
TEMPLATE = ROOT / "examples" / "claims" / "my_involutions.py"

FILE = '''
import time
from mirrormata.theory.verifying._claim import QUICK, Claim
from mirrormata.theory.verifying._evidence import decide_values

CLAIM = Claim({id!r}, "what", "proved", uses={uses!r}, seconds={seconds!r})


def verify(effort=QUICK):
    """It is so.

    Statement: 1 = 1.
    Direction: {direction}
    Hypotheses: None.
    Arithmetic: exact
    Source: ours
    Method: Compared.
    Example:
        >>> verify().status
        'proved'
    """
    {body}
    return decide_values(CLAIM, computed=1, claimed=1)
'''


def write(
    folder: Path,
    claim: str,
    *,
    uses: tuple[str, ...] = (),
    direction: str = "tight",
    body: str = "",
    seconds: float = 1.0,
) -> None:
    text = FILE.format(id=claim, uses=uses, direction=direction, body=body, seconds=seconds)
    (folder / f"{file_stem(claim)}.py").write_text(text, encoding="utf-8")


def test_one_rule_from_id_to_file_name() -> None:
    assert [file_stem(i) for i in ("G.T4.printed", "S.star-free", "PD.N-1", "H.open-beta")] == [
        "g_t4_printed",
        "s_star_free",
        "pd_n_1",
        "h_open_beta",
    ]


def test_a_users_claim_from_the_template_is_found_and_run(tmp_path: Path) -> None:
    shutil.copy(TEMPLATE, tmp_path)
    (tmp_path / "_notes.py").write_text("raise RuntimeError", encoding="utf-8")
    registry = load_claims([tmp_path])
    outcomes = verify_claims([registry["my.involutions"], registry["H.rank"]], jobs=2)
    assert [o.claim.id for o in outcomes] == ["my.involutions", "H.rank"]
    assert all(o.as_expected for o in outcomes)
    assert outcomes[0].verdict.evidence["broken"]["violations"] > 0


def test_the_templates_text_says_what_its_run_prints(tmp_path: Path) -> None:
    entry = load_claims([TEMPLATE.parent])["my.involutions"]
    assert entry.text.example.splitlines()[1] == entry.verify(QUICK).line()


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ([("G.T4", ())], "G.T4 is there twice"),
        ([("g.t4", ())], "g.t4 is there twice"),
        ([("my.a", ("G.nothing",))], "my.a uses G.nothing, which is not there"),
        ([("my.a", ("my.b",)), ("my.b", ("my.a",))], "uses in a circle"),
    ],
)
def test_contradictions_are_one_line(files: Any, reason: str, tmp_path: Path) -> None:
    for claim, uses in files:
        write(tmp_path, claim, uses=uses)
    with pytest.raises(InputError, match=reason) as error:
        load_claims([tmp_path])
    assert "\n" not in str(error.value)


def test_files_that_are_no_claims_are_named(tmp_path: Path) -> None:
    write(tmp_path, "my.a", direction="upwards")
    write(tmp_path, "my.b")
    (tmp_path / "my_b.py").rename(tmp_path / "other.py")
    (tmp_path / "empty.py").write_text("", encoding="utf-8")
    (tmp_path / "bad.py").write_text("1 +", encoding="utf-8")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit('and leaves')", encoding="utf-8")
    with pytest.raises(InputError) as error:
        load_claims([tmp_path])
    for reason in (
        "direction 'upwards'",
        "belongs in my_b.py",
        "CLAIM = Claim",
        "bad.py: invalid syntax",
        "leaves.py: and leaves",
    ):
        assert reason in str(error.value)
    with pytest.raises(InputError, match="no folder with claims"):
        load_claims([tmp_path / "nowhere"])


def test_same_names_in_two_folders_are_two_modules(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        write(tmp_path / name, "my.claim", body=f"print({name!r})")
    one, other = (load_claims([tmp_path / name])["my.claim"].module for name in "ab")
    assert one is not other
    assert one is load_claims([tmp_path / "a"])["my.claim"].module


def test_exceptions_and_spent_budgets_are_outcomes(tmp_path: Path) -> None:
    write(tmp_path, "my.error", body="raise ZeroDivisionError('no\\nway')")
    write(tmp_path, "my.slow", body="time.sleep(30)")
    write(tmp_path, "my.leaving", body="raise SystemExit(3)")
    write(tmp_path, "my.fine")
    write(tmp_path, "my.dead", body="import os; os._exit(7)")
    registry = load_claims([tmp_path])
    begun = time.monotonic()
    found = verify_claims([registry[f"my.{name}"] for name in ("error", "slow", "fine")], budget=4, jobs=3)
    assert time.monotonic() - begun < 20
    error, slow, fine = found
    assert (error.verdict.status, error.error) == ("unknown", "ZeroDivisionError: no way")
    assert (slow.verdict.status, slow.error) == ("unknown", None)
    assert "budget" in slow.verdict.evidence["reason"]
    assert [o.as_expected for o in found] == [False, False, True], fine
    assert verify_one(registry["my.leaving"], QUICK).error == "SystemExit: 3"
    dead = verify_claims([registry["my.dead"], registry["my.dead"]], jobs=2)
    assert all("its process died" in str(o.error) for o in dead)
    assert verify_one(registry["my.fine"], QUICK, deadline=time.time() - 1).verdict.status == "unknown"


@pytest.mark.parametrize("jobs", [1, 2])
def test_within_a_budget_short_checks_are_first(tmp_path: Path, jobs: int) -> None:
    write(tmp_path, "my.a", seconds=9, body="time.sleep(30)")
    write(tmp_path, "my.b", seconds=9, body="time.sleep(30)")
    write(tmp_path, "my.c", seconds=2)
    write(tmp_path, "my.d")
    came: list[str] = []
    entries = [e for e in load_claims([tmp_path]) if e.claim.source == "my"]
    found = verify_claims(entries, budget=4, jobs=jobs, done=lambda o: came.append(o.claim.id))
    assert [o.claim.id for o in found] == ["my.a", "my.b", "my.c", "my.d"]
    assert [o.verdict.status for o in found] == ["unknown", "unknown", "proved", "proved"]
    if jobs == 1:
        assert came == ["my.d", "my.c", "my.a", "my.b"]
        came.clear()
        verify_claims(entries[:1:-1], jobs=1, done=lambda o: came.append(o.claim.id))
        assert came == ["my.d", "my.c"]  # without a budget in their order


def test_a_verdict_of_another_status_is_not_as_recorded(tmp_path: Path) -> None:
    write(
        tmp_path,
        "my.other",
        body="from dataclasses import replace; return replace(decide_values(CLAIM, computed=1, claimed=1), status='supported', evidence={'instances': 1, 'seed': 0})",
    )
    write(tmp_path, "my.wrong", body="return decide_values(CLAIM, computed=1, claimed=2)")
    registry = load_claims([tmp_path])
    outcomes = [verify_one(registry[name], QUICK) for name in ("my.other", "my.wrong")]
    assert [o.as_expected for o in outcomes] == [False, False]
    assert outcomes[1].verdict.evidence["witness"] == {"computed": 1, "claimed": 2}


def test_a_check_that_cannot_fail_supports_nothing() -> None:
    numbers: dict[str, Any] = {
        "count": 20,
        "draw": lambda g: int(g.integers(0, 10)),
        "broken": lambda g: int(g.integers(10, 20)),
        "tight": lambda x: x == 9,
    }
    claim = Claim("my.small", "what", "supported")
    good = check_random_cases(claim, QUICK, check=lambda x: f"{x} > 9" if x > 9 else None, **numbers)
    assert (good.status, good.evidence["broken"]["rate"]) == ("supported", 1.0)
    assert (good.cases, good.line()) == (20, "supported by 20 instances: no violation, as claimed")
    assert good.to_json()["cases"] == 20
    assert check_random_cases(claim, QUICK, check=lambda _: None, **numbers).status == "unknown"
    bad = check_random_cases(claim, QUICK, check=lambda x: f"{x} > 4" if x > 4 else None, **numbers)
    assert bad.status == "refuted"
    assert bad.evidence["witness"].endswith("> 4")
    again = check_random_cases(
        claim, Effort("quick", 0), check=lambda x: f"{x} > 4" if x > 4 else None, **numbers
    )
    assert bad == again


def test_exhaustive_and_refuted_claims() -> None:
    claim = Claim("my.even", "what", "exhaustive")

    def odd(x: int) -> str | None:
        return f"{x} is odd" if x % 2 else None

    assert (
        check_all_cases(claim, cases=[0, 2], check=odd, of="two numbers", broken=[1, 2]).status
        == "exhaustive"
    )
    two = check_all_cases(claim, cases=[0, 2], check=odd, of="two numbers")
    assert (two.cases, two.finding, two.to_json()["cases"]) == (2, "holds on 2 cases", 2)
    assert check_all_cases(claim, cases=[0, 2], check=odd, of="two numbers", broken=[2]).status == "unknown"
    assert check_all_cases(claim, cases=[], check=odd, of="none").status == "unknown"
    assert check_all_cases(claim, cases=[0, 3], check=odd, of="two numbers").line() == (
        "refuted: computed a violation, case 2, claimed no violation"
    )
    printed = Claim("my.even.printed", "what", "refuted", repair="so")
    sound = refute_by_witness(printed, 3, lambda x: x % 2 == 1, computed="odd", claimed="even")
    assert (sound.status, sound.evidence["witness"]) == ("refuted", 3)
    assert (
        refute_by_witness(printed, 2, lambda x: x % 2 == 1, computed="odd", claimed="even").status
        == "unknown"
    )
    assert (
        refute_by_witness(printed, None, lambda _: True, computed="odd", claimed="even").status == "unknown"
    )
    known = cite_source(Claim("my.known", "what", "cited"), "somebody", checked="nothing")
    assert (known.status, known.cases, known.confirmed) == ("cited", None, False)
    assert (
        decide_values(CLAIM, computed=3, claimed=4, relation="<=").line()
        == "proved: computed 3, claimed <= 4"
    )


def test_records_and_texts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="a printed claim says its repair"):
        Claim("G.T9.printed", "what", "refuted")
    with pytest.raises(ValueError, match="expected 'sure' is not one of"):
        Claim("G.T9", "what", "sure")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="its id is letters"):
        Claim("G T9", "what", "proved")
    with pytest.raises(ValueError, match="has the parts none"):
        claim_text("It is so.")
    swapped = "S.\n\nDirection: tight\nStatement: x\nHypotheses: x\nArithmetic: x\nSource: x\nMethod: x\nExample:\n    x"
    with pytest.raises(ValueError, match="has the parts Direction, Statement"):
        claim_text(swapped)
