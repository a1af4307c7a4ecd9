"""`mirrormata vectors`: the file, verdicts with an exit status, and refusals in one line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from mirrormata.kernels.vectors._families import FAMILIES, all_words, families_of
from mirrormata.kernels.vectors._word import can_run


def test_the_words_are_written(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "v.safetensors"
    done = call("vectors", str(path), "--json")
    assert done.json == {"written": str(path), "words": len(all_words())}
    assert call("vectors", str(path)).status == 0  # its own file is replaced
    foreign = tmp_path / "w.safetensors"
    foreign.write_text("mine")
    assert "did not write it" in call("vectors", str(foreign)).error
    assert "give it this ending" in call("vectors", str(tmp_path / "v.npz")).error


def test_families_and_implementations_are_listed(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    shown = call("vectors").out
    assert f"{len(all_words())} words in {len(FAMILIES)} families" in shown
    for family in FAMILIES:
        assert family.name in shown
        assert family.alone in shown
    listed = call("vectors", "--json").json
    assert sum(f["words"] for f in listed["families"]) == len(all_words())
    assert {"name": "numpy/plain", "operator": "delta_product", "needs a GPU": False} in listed[
        "implementations"
    ]


def test_a_function_is_tested(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "of_mine.py").write_text(
        "import numpy as np\n"
        "from mirrormata.kernels.vectors._plain import plain_delta_rule\n"
        "def clipped(q, k, v, beta, scale, initial_state=None):\n"
        "    return plain_delta_rule(q, k, v, np.minimum(beta, 1), None, initial_state, scale=scale)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("COLUMNS", "300")
    arguments = ("vectors", "--test", "of_mine:clipped", "--operator", "delta_rule", "--framework", "numpy")
    families = ("--family", "beta-above-one, scale")
    done = call(*arguments, *families)
    assert done.status == 1
    assert "of_mine:clipped: 1 of 2 families fail: beta-above-one" in done.out
    assert "beta is clipped at 1; first, beta=2: o[0, 2, 0, 0] is" in done.out
    assert "inputs, beta, gates, state, products, sums, outputs fp32" in done.out
    found = call(*arguments, *families, "--beta", "fp16", "--json").json
    assert found["formats"]["beta"] == "fp16"
    assert not found["passed"]
    assert [v["verdict"] for v in found["verdicts"]] == ["fail", "pass"]
    done = call(*arguments, "--family", "scale", "--inputs", "fp16", "--json")
    assert done.status == 0
    assert done.json["formats"]["outputs"] == "fp16"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--test", "nonsense"), "write module:function, or one of"),
        (("--test", "no_such_module_of_mine:f"), "no module no_such_module_of_mine"),
        (("--test", "numpy/plain", "--operator", "kda"), "is an implementation of delta_product"),
        (("--test", "numpy/plain", "--family", "nonsense"), "family 'nonsense'"),
        (("--test", "numpy/plain", "--inputs", "fp8"), "inputs 'fp8'"),
        (("--test", "numpy/plain", "--sums", "bf16"), "sums 'bf16'"),
        (
            ("--test", "numpy/plain", "--family", "integers,channel-gates"),
            "it has no words for delta_product, which has those of",
        ),
    ],
)
def test_wrong_requests_are_one_line(arguments: tuple[str, ...], message: str, call: Any) -> None:
    assert message in call("vectors", *arguments).error


@pytest.mark.parametrize("name", ["mirrormata/triton/chunk", "fla/chunk_kda"])
def test_what_needs_a_gpu_says_so(name: str, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert f"{name}: it needs a GPU, and torch finds none" in call("vectors", "--test", name).error
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert "name it as the device, such as cuda" in call("vectors", "--test", name).error


def test_a_module_of_the_current_folder_is_found(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "port_of_here.py").write_text(
        "from mirrormata.kernels.vectors._plain import plain_delta_rule\n"
        "def square(q, k, v, beta, scale, initial_state=None):\n"
        "    if q.shape[3] != v.shape[3]:\n"
        "        raise NotImplementedError('only K = V')\n"
        "    return plain_delta_rule(q, k, v, beta, None, initial_state, scale=scale)\n"
    )
    (tmp_path / "broken_of_here.py").write_text("1 / 0\n")
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", str(tmp_path))])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    arguments = (
        "vectors",
        "--test",
        "port_of_here:square",
        "--operator",
        "delta_rule",
        "--framework",
        "numpy",
    )
    own = families_of("delta_rule")
    words = sum(can_run("delta_rule", word) for word in all_words())
    done = call(*arguments)
    assert done.status == 0  # no word that was run fails
    assert (
        f"0 of {len(own)} families pass, 2 in part; {len(own) - 2} families not run; 3 of {words} words run, not run: only K = V ("
        in done.out
    )
    assert "passes 2 of 8 words; 6 not run: only K = V" in done.out
    found = call(*arguments, "--json").json
    assert (found["passed"], found["complete"], found["words"], found["total"]) == (True, False, 3, words)
    assert found["verdicts"][0]["verdict"] == "partial"
    assert len(found["verdicts"][0]["skipped"][0]["words"]) == 6
    assert call(*arguments, "--family", "scale").status == 1  # no word was run
    assert "no word was run, so nothing passes" in call(*arguments, "--family", "scale").out
    broken = call("vectors", "--test", "broken_of_here:f")
    assert "broken_of_here cannot be imported: ZeroDivisionError" in broken.error


def test_formats_have_a_heading_of_their_own(call: Any) -> None:
    shown = call("vectors", "--help").out
    assert "Formats that the function states" in shown
    assert "The model" not in shown


HOSTILE = """
import os, signal, sys, time
from mirrormata.kernels.vectors._plain import plain_delta_rule

def _after(act):
    def run(q, k, v, beta, scale):
        act()
        return plain_delta_rule(q, k, v, beta, scale=scale)
    return run

leaves = _after(lambda: os._exit(0))
exits = _after(lambda: sys.exit(0))
crashes = _after(lambda: os.kill(os.getpid(), signal.SIGSEGV))
loops = _after(lambda: time.sleep(1000))
prints = _after(lambda: print("from the function"))
reads = _after(lambda: sys.stdin.read())
number = 3
def __getattr__(name):
    raise RuntimeError(name)
class Unreadable:
    __signature__ = 3
    def __call__(self): ...
unreadable = Unreadable()
"""


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    (tmp_path / "hostile.py").write_text(HOSTILE)
    (tmp_path / "leaves_early.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "leaves_at_once.py").write_text("import os\nos._exit(0)\n")
    (tmp_path / "no_python.py").write_text("def f(:\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return ("vectors", "--operator", "delta_rule", "--framework", "numpy", "--family", "scale")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hostile:leaves", "hostile:leaves: the process that tested it ended with exit status 0 before there was a verdict"),
        ("hostile:crashes", "was ended by SIGSEGV before there was a verdict"),
        ("hostile:number", "number is no function"),
        ("hostile:nothing", "hostile has no nothing"),
        ("hostile:unreadable", "its signature cannot be read"),
        ("leaves_early:f", "leaves_early cannot be imported: SystemExit (0)"),
        ("leaves_at_once:f", "ended with exit status 0"),
        ("no_python:f", "no_python cannot be imported: SyntaxError"),
    ],
)  # fmt: skip
def test_a_function_that_ends_the_process_is_one_line(
    name: str, message: str, hostile: tuple[str, ...], call: Any
) -> None:
    assert message in call(*hostile, "--test", name, "--json").error


def test_a_function_that_never_ends_meets_the_limit(hostile: tuple[str, ...], call: Any) -> None:
    error = call(*hostile, "--test", "hostile:loops", "--max-seconds", "2").error
    assert "hostile:loops: it has not ended after 2 seconds (--max-seconds); raise the limit" in error
    assert "above 0" in call(*hostile, "--test", "hostile:loops", "--max-seconds", "nan").error


def test_what_a_function_prints_is_not_in_the_result(hostile: tuple[str, ...], call: Any) -> None:
    assert call(*hostile, "--test", "hostile:prints", "--json").json["passed"]
    assert call(*hostile, "--test", "hostile:reads", "--json").json["passed"]  # there is nothing to read
    left = call(*hostile, "--test", "hostile:exits", "--json")
    assert left.status == 1
    assert "it raises SystemExit" in left.json["overall"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("OUT", "--inputs", "bf16"), "--inputs bf16: it is about the test of a function; name one with --test"),
        (("OUT", "--max-seconds", "3"), "--max-seconds 3.0: it is about the test"),
        (("--device", "cuda"), "--device cuda: it is about the test"),
        (("OUT", "--family", "scale"), "--family scale: it is about the test"),
        (("--family", "zz"), "family 'zz': it is one of integers, tails"),
        (("--test", "numpy/plain", "--family", "scale,"), "family '': it is one of integers, tails"),
        (("--test", "mirrormata/torch/chunk", "--device", "nonsense"), "device 'nonsense': torch can make no tensor"),
        (("--test", "mirrormata/torch/chunk", "--device", "meta"), "device 'meta': tensors on it have no numbers"),
    ],
)  # fmt: skip
def test_options_without_a_meaning_are_refused(
    arguments: tuple[str, ...], message: str, call: Any, tmp_path: Path
) -> None:
    out = tmp_path / "y.safetensors"
    given = [str(out) if x == "OUT" else x for x in arguments]
    assert message in call("vectors", *given).error
    assert not out.exists()
