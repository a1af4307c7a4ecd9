"""The chapter "A new layer family" of CONTRIBUTING.md, followed: one new file in a copy of the package, nothing else edited."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mirrormata.tests.project.documented_pages import ROOT

FILE = '''
"""One decay a head, as in RetNet (arXiv 2307.08621) and Mamba-2 (arXiv 2405.21060), here of the token."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .._config import ModelConfig
from .._families import Family
from ._seeded import LINEAR_OPTIONS, InitialState, ReadOut, SeededLinear, ShortProjection, State
from ._seeded import split_heads, projection_to_decay, count_key_values, make_value_projection


class ScalarDecay(nn.Module):
    """H ← a(x) H + k vᵀ, o = qᵀ H, with a(x) in the range for each head."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        heads, K, V = config.heads, config.head_dim, config.value_dim
        self.query = ShortProjection(config, heads * K, config.key_activation)
        self.key = ShortProjection(config, heads * K, config.key_activation)
        self.value = make_value_projection(config, heads * V)
        self.decay = SeededLinear(config.width, heads, bias=True)
        self.initial = InitialState(config, heads, K, V)
        self.read_out = ReadOut(config, heads, V)

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """`[replicas, batch, tokens, width]` to the same; `state["H"]`: `[replicas, batch, heads, K, V]`."""
        state, after, heads = state or {}, State(), self.config.heads
        q = split_heads(self.query(x, state, "query", after), heads)
        k = split_heads(self.key(x, state, "key", after), heads)
        v = None if self.value is None else split_heads(self.value(x, state, "value", after), heads)
        a, H, outputs = projection_to_decay(self.decay(x), self.config).to(q.dtype), self.initial(x, state), []
        for t in range(x.shape[2]):
            H = a[:, :, t, :, None, None] * H.to(q.dtype)
            if v is not None:
                H = H + k[:, :, t, :, :, None] * v[:, :, t, :, None, :]
            outputs.append(torch.einsum("sbhk,sbhkv->sbhv", q[:, :, t], H))
        after["H"] = H
        return self.read_out(torch.stack(outputs, 2), x), after

    def transitions(self, x: Tensor, state: State | None = None) -> Tensor:
        """A(x) `[replicas, batch, tokens, heads, K, K]`, in float64."""
        a = projection_to_decay(self.decay(x), self.config).double()
        return a[..., None, None] * torch.eye(self.config.head_dim, dtype=torch.float64, device=x.device)


FAMILIES = (
    Family(
        "scalar_decay", ScalarDecay, "H ← a(x) H + k vᵀ", "a(x), in the range", LINEAR_OPTIONS,
        ("sigmoid", "hard_sigmoid", "direct"), kept=count_key_values,
    ),
)
'''

USE = """
import sys
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import InputError
from mirrormata.models._config import ModelConfig
from mirrormata.models._evaluation_file import evaluate_folder
from mirrormata.models.comparison._sources import load_learned
from mirrormata.models._families import find_family, load_families
from mirrormata.models.training._experiment import experiment_from_dict
from mirrormata.models.training._train import train

assert not find_family("scalar_decay").baseline
try:
    ModelConfig(family="scalar_decoy")
except InputError as error:
    assert "did you mean 'scalar_decay'" in str(error), error
    assert all(name in str(error) for name in load_families()), error
model = {"family": "scalar_decay", "width": 8, "heads": 2, "head_dim": 4, "value_dim": 4, "range": [-1, 1]}
settings = {"steps": 2, "batch": 4, "lengths": [3, 5], "threads": 1}
outcome = train(experiment_from_dict({"task": {"spec": "parity", "bos": False}, "model": model, "train": settings}, "x"), sys.argv[1])
assert outcome.step == 2, outcome
seen = evaluate_folder(sys.argv[1], lengths=[8], words=4)
assert seen.seen.right.shape == (1, 8)
learned = load_learned(sys.argv[1] + "/seed-0", automaton_from_spec("parity"))
assert len(learned.heads) == 2 and learned.heads[0].A.shape == (2, 4, 4)
print("trained, tested and compared")
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the new file, and the tests that hold for every family."""
    site = tmp_path_factory.mktemp("recipe")
    copy = site / "mirrormata"
    for folder in ("foundation", "constructions", "kernels", "theory", "models"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (*ROOT.glob("__init__.py*"), ROOT / "py.typed"):
        if path.is_file():
            shutil.copy2(path, copy / path.name)
    (copy / "models" / "layers" / "scalar_decay.py").write_text(FILE.lstrip(), encoding="utf-8")
    shutil.copy2(ROOT / "tests" / "models" / "test_models.py", site)
    return site


def run(package: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        [sys.executable, "-P", *arguments],
        cwd=package,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout


def test_a_model_of_a_new_family_is_trained_tested_and_compared(package: Path) -> None:
    assert run(package, "-c", USE, str(package / "trained")) == "trained, tested and compared\n"


def test_the_laws_of_all_families_are_tested_for_a_new_one(package: Path) -> None:
    said = run(
        package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_models.py", "-k", "scalar_decay"
    )
    assert "9 passed" in said


def test_the_chapter_names_what_there_is() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    chapter = text.split("## A new layer family\n")[1].split("\n## ")[0]
    for name in (
        "models/layers/NAME.py",
        "FAMILIES",
        "Family",
        "transitions",
        "queries",
        "factors",
        "kept",
        "written_out",
    ):
        assert name in chapter
    for path in (
        "models/_families.py",
        "models/layers/_seeded.py",
        "tests/models/test_memory.py",
        "docs/models.md",
    ):
        assert Path(path).name in chapter
        assert (ROOT / path).is_file()


def test_two_files_with_one_name_are_refused(package: Path) -> None:
    script = "from mirrormata.models._families import load_families; load_families()"
    other = package / "mirrormata" / "models" / "layers" / "twice.py"
    other.write_text(FILE.lstrip(), encoding="utf-8")
    try:
        with pytest.raises(
            AssertionError, match=r"families: twice\.py: 'scalar_decay' is there twice; rename one"
        ):
            run(package, "-c", script)
        other.write_text("", encoding="utf-8")
        with pytest.raises(AssertionError, match=r"twice\.py has no FAMILIES"):
            run(package, "-c", script)
    finally:
        other.unlink()
