"""Comparisons of trained models: why DeltaNet[0,1] fails on parity, what S_3 is in a head; and what their noise must not hide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.models.comparison._compare import compare
from mirrormata.models.comparison._snap import find_factors_in_use
from mirrormata.models.comparison._sources import learned_from_lrnn, learned_from_matrices
from mirrormata.models.comparison._states import ClassGeometry, Sampling, Trace, class_geometry
from mirrormata.models.learned._learned import AffineStepper, Factors, LearnedHead
from mirrormata.models.learned._model import load_learned_model
from mirrormata.models.report._learned import show_model
from mirrormata.models.training._experiment import experiment_from_dict
from mirrormata.models.training._train import train
from mirrormata.tests.cli.command_line import Outcome
from mirrormata.tests.models.learned_folders import section, values
from mirrormata.theory._check import check

QUICK = Sampling(words=64, length=128, fit=32)
SHAPE = {"family": "deltaproduct", "width": 32, "heads": 2, "head_dim": 8, "value_dim": 8, "mlp": 1.0}


def s3() -> LRNN:
    found = construct(automaton_from_spec("S3"))
    assert isinstance(found, LRNN)
    return found


def sign_head(size: float = 1.0) -> LearnedHead:
    """The sign of S_3's letters, times `size`."""
    (head,) = learned_from_lrnn(s3()).heads
    signs = size * np.rint(np.linalg.det(head.A))[:, None, None]
    return LearnedHead("sign", signs, np.zeros((6, 1, 1)), np.ones((1, 1)))


def test_factors_that_move_nothing_of_the_state_are_no_reason() -> None:
    """S_3's reflections in three of four dimensions, and a factor of 1.01 in the fourth, where the state is 0."""
    (head,) = learned_from_lrnn(s3()).heads
    assert head.factors is not None
    beta = np.concatenate([np.full((6, 1), 1.01), head.factors.beta], axis=1)
    aside = np.tile(np.eye(4)[3], (6, 1, 1))
    inside = np.pad(head.factors.keys, ((0, 0), (0, 0), (0, 1)))
    factors = Factors(beta, np.concatenate([aside, inside], axis=1), np.ones(6))
    A = np.zeros((6, 4, 4))
    A[:, :3, :3], A[:, 3, 3] = head.A, 1 - 1.01
    learned = learned_from_matrices(A, s3().automaton, H0=np.pad(head.H0, ((0, 1), (0, 0))), factors=factors)
    c = compare(learned, sampling=QUICK, extract=())
    (h,) = c.heads
    assert h.snapped is not None
    assert h.snapped.beta_moved == pytest.approx(0, abs=1e-12)
    assert c.horizon.least_beta == pytest.approx(2)
    used = find_factors_in_use(h.head, h.geometry.basis)
    assert not used[:, 0].any()
    assert (used[:, 1:] == (head.factors.beta > 0)).all()


def test_the_margin_of_a_head_is_between_what_it_keeps_apart() -> None:
    sign = sign_head()
    c = compare(learned_from_matrices(sign.A, s3().automaton, H0=sign.H0), sampling=QUICK, extract=())
    (h,) = c.heads
    assert h.geometry.told_apart == 2
    assert set(h.geometry.margin) == {1}
    assert set(h.geometry.spread) == {0}


def test_noise_beside_the_line_between_two_classes_does_not_join_them() -> None:
    draw = np.random.default_rng(0)
    noise = draw.standard_normal((100, 3, 2))
    noise -= noise.mean(axis=0)
    q = np.tile(np.arange(3), 100)

    def geometry(size: float) -> ClassGeometry:
        """Of two classes at distance 2 and one far away, with noise 10 across the line between the two and `size` along."""
        states = (np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 100.0]]) + noise * [size, 10]).reshape(-1, 2)
        trace = Trace(
            Sampling(300, 1, 1),
            np.ones(1),
            np.zeros(300, dtype=int),
            (1,),
            (states[None, :, :, None],),
            q[None],
        )
        return class_geometry(trace, 0, 3, 0.001)

    assert geometry(0.1).told_apart == 3
    assert geometry(5).groups.tolist() == [0, 0, 1]


def test_horizons_are_of_the_heads_that_are_needed() -> None:
    """A sign that dies away beside a head that tells all states apart limits nothing."""
    base = learned_from_lrnn(s3())
    heads = (*base.heads, sign_head(0.9))
    assert base.read is not None
    read = base.read
    stepper = AffineStepper(heads, lambda states, letters: read(states[:1], letters))
    learned = replace(base, heads=heads, stepper=stepper, read=stepper.read)
    c = compare(learned, sampling=Sampling(64, 16, 16), extract=())
    assert [h.head.name for h in c.heads if h.carries_states] == ["head 1", "sign"]
    assert c.snapped.needed == ("head 1",)
    assert len(c.snapped.heads) == 2
    assert c.horizon.drift is None
    alone = compare(
        replace(learned, heads=heads[1:], read=None, head_states=lambda s: s[1:]), sampling=QUICK, extract=()
    )
    assert alone.snapped.needed == ("sign",)
    assert alone.horizon.drift is not None


def test_a_spread_that_has_met_the_margin_is_not_predicted_later() -> None:
    (head,) = learned_from_lrnn(s3()).heads
    A = np.eye(3) + 0.9 * (head.A - np.eye(3))
    c = compare(learned_from_matrices(A, s3().automaton, H0=head.H0), sampling=QUICK, extract=())
    ratio = c.heads[0].geometry.ratio
    assert c.horizon.spread is not None
    at = c.trace.lengths.index(c.horizon.spread)
    assert ratio[at] <= 1
    assert (ratio[:at] > 1).all()


def trained(
    folder: Path,
    task: dict[str, Any],
    model: dict[str, Any],
    settings: dict[str, Any],
    lengths: tuple[Any, ...] = (64, 128),
) -> dict[str, Any]:
    """The result of a training on one thread of the processor."""
    document = {
        "task": task, "model": {**SHAPE, **model}, "eval": {"lengths": list(lengths), "words": 128},
        "train": {"threads": 1, "device": "cpu", "log_every": 25, **settings},
    }  # fmt: skip
    outcome = train(experiment_from_dict(document, "test"), folder)
    assert outcome.result is not None
    return outcome.result


@pytest.mark.long
def test_deltanet_of_positive_eigenvalues_must_fail_on_parity(
    tmp_path: Path, call: Callable[..., Outcome]
) -> None:
    trained(
        tmp_path / "parity", {"spec": "parity", "protocol": "formal_language"}, {"range": [0, 1], "heads": 1},
        {"steps": 300, "batch": 16, "lengths": [2, 40], "lr": 5e-3}, ([2, 40], [41, 128]),
    )  # fmt: skip
    model, certificate = str(tmp_path / "parity" / "seed-0"), str(tmp_path / "impossible.json")
    said = call("compare", model, "parity", "--length", "128", "--extract", "none", "-o", certificate)
    assert said.status == 0
    assert "cannot be right on all words" in said.out
    assert Path(certificate).is_file()
    checked = call("check", certificate)
    assert checked.status == 0
    assert checked.out.startswith("valid")
    document = call("compare", model, "parity", "--length", "128", "--extract", "none", "--json").json
    assert document["failure"]["all_eigenvalues_in_0_1"] is True
    assert document["accuracy"] < 0.9
    sections = show_model(tmp_path / "parity")
    assert values(sections, "learned-impossible")["checker"].startswith("valid")


@pytest.mark.long
def test_a_head_trained_on_s3_carries_its_representation_of_two_dimensions(tmp_path: Path) -> None:
    result = trained(
        tmp_path / "s3", {"spec": "S3", "protocol": "word_problem", "bos": False},
        {"range": [-1, 1], "householders": 2, "initial": "learned", "key_activation": "none"},
        {"steps": 800, "batch": 64, "lengths": [2, 32], "curriculum": 0.6, "lr": 1e-2, "seeds": [0, 1]},
    )  # fmt: skip
    best = int(np.argmax(result["longest_90"]))
    assert result["longest_90"][best] >= 64
    automaton = automaton_from_spec("S3")
    learned = load_learned_model(str(tmp_path / "s3" / f"seed-{best}"), automaton)
    c = compare(learned, sampling=Sampling(128, 512, 64), extract=("exact",))
    carrying = [h for h in c.heads if h.representation is not None and h.geometry.told_apart == 6]
    assert carrying
    for h in carrying:
        assert h.representation is not None
        assert "χ3: degree 2, faithful" in h.representation.constituents
        assert h.representation.residual < 0.1
    assert c.horizon.least_beta is not None
    assert 1.9 < c.horizon.least_beta <= 2
    (found,) = c.extracted
    assert found.is_target
    assert len(found.automaton.states) == 6
    assert c.snapped.lrnn is not None
    assert check(c.snapped.lrnn).verdict == "valid"
    assert c.causal[-1].first_failure is None
    sections = show_model(tmp_path / "s3", seed=best)
    assert "degree 2, faithful" in section(sections, "learned-heads").text


@pytest.mark.long
def test_the_example_trained_on_s4_carries_the_rotations_of_the_cube() -> None:
    """12 heads of 32 with two factors, trained on a GPU on words of 128 letters."""
    folder = Path(__file__).resolve().parents[2] / "examples" / "models" / "s4"
    learned = load_learned_model(str(folder), automaton_from_spec("S4"))
    c = compare(learned, sampling=Sampling(32, 256, 64), extract=("exact", "clusters"))
    assert c.trace.accuracy == 1
    (carrying,) = [h for h in c.heads if h.geometry.told_apart == 24]
    assert carrying.representation is not None
    assert carrying.representation.constituents == ["χ4: degree 3, faithful, determinant 1"]
    assert carrying.representation.residual < 0.01
    assert carrying.geometry.rank == 3
    assert carrying.snapped is not None
    assert carrying.snapped.plane_moved < 0.01
    assert c.horizon.least_beta is not None
    assert 1.9999 < c.horizon.least_beta <= 2
    assert c.horizon.drift is not None
    assert c.horizon.drift >= 64
    for found in c.extracted:
        assert found.is_target, found.text
        assert len(found.automaton.states) == 24
    assert len(c.extracted) == 2
    assert c.snapped.lrnn is not None
    assert check(c.snapped.lrnn).verdict == "valid"
