"""A learned layer beside a constructed one: zero for itself, known perturbations recovered, horizons, causes."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product as pairs_of
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.models._kinds import from_construction
from mirrormata.models.comparison._compare import compare
from mirrormata.models.comparison._extraction import Method
from mirrormata.models.comparison._procrustes import align_letters, align_points, disparity
from mirrormata.models.comparison._representations import TransitionGroup, character_table
from mirrormata.models.comparison._result import (
    Comparison,
    Tolerances,
    comparison_rows,
    comparison_tables,
    describe_prediction,
)
from mirrormata.models.comparison._sources import (
    learned_from_lrnn,
    learned_from_matrices,
    learned_from_stepper,
)
from mirrormata.models.comparison._spectra import letter_facts
from mirrormata.models.comparison._states import Sampling, Trace, class_geometry
from mirrormata.models.learned._learned import Factors, Learned
from mirrormata.models.learned._model import learned_from_model
from mirrormata.theory._check import check
from mirrormata.theory._horizon import scale_betas
from mirrormata.theory.impossibility._certificate import positive_delta_layer
from mirrormata.theory.running._stepper import LRNNStepper

QUICK = Sampling(words=64, length=128, fit=32)


def lrnn_of(spec: str, **request: Any) -> LRNN:
    found = construct(automaton_from_spec(spec), **request)
    assert isinstance(found, LRNN)
    return found


def rotation(n: int, seed: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]


def perturbed(lrnn: LRNN, R: np.ndarray, noise: np.ndarray) -> Learned:
    """The only head, turned by R, with `noise` `[letters, n, n]` added before."""
    (head,) = learned_from_lrnn(lrnn).heads
    return learned_from_matrices(R @ (head.A + noise) @ R.T, lrnn.automaton, H0=R @ head.H0)


def assert_is_zero(c: Comparison) -> None:
    assert c.homomorphism_error == 0
    for h in c.heads:
        assert h.representation is not None
        assert h.representation.identity_error in (0, None)
        assert set(h.representation.order_errors) == {0}
        assert h.alignment is not None
        assert (h.alignment.residual, h.alignment.largest, h.state_disparity) == (0, 0, 0)
        assert not any(h.neutral_errors.values())
        assert h.geometry.spread.max() < 1e-9  # float64 states of algebraic numbers
    assert c.trace.observed is None
    assert c.trace.accuracy == 1
    assert all(e.is_target for e in c.extracted)
    assert all(x.accuracy == 1 for x in c.causal)
    assert c.causal


@pytest.mark.parametrize("spec", ["parity", "mod:5", "S3", "S4", "dihedral:5", "A5", "Z2^4"])
def test_a_construction_beside_itself_is_at_distance_zero(spec: str) -> None:
    lrnn = lrnn_of(spec)
    ways: tuple[Method, ...] = ("exact",) if spec == "A5" else ("exact", "clusters")
    c = compare(learned_from_lrnn(lrnn), lrnn, sampling=QUICK, extract=ways)
    assert_is_zero(c)
    assert c.snapped.lrnn is not None
    assert check(c.snapped.lrnn).verdict == "valid"
    document = json.loads(json.dumps(c.to_json()))
    assert {"homomorphism_error", "spectra", "reflection_rank", "horizon", "extracted_automaton"} <= set(
        document
    )
    mine = [[f["eigenvalues"] for f in head] for head in document["spectra"]["learned"].values()]
    theirs = [[f["eigenvalues"] for f in head] for head in document["spectra"]["constructed"].values()]
    assert mine == theirs
    assert comparison_rows(c)
    assert comparison_tables(c)


@pytest.mark.parametrize("spec", ["parity", "S3", "S4"])
def test_a_constructed_model_beside_its_construction(spec: str) -> None:
    """The same weights in the modules that are trained, read back through their own code."""
    lrnn = lrnn_of(spec)
    built = from_construction(lrnn)
    c = compare(learned_from_model(built, lrnn.automaton), lrnn, sampling=QUICK)
    assert_is_zero(c)
    ranks = [[f.reflection_rank for f in h.facts] for h in c.heads]
    theirs = [[f.reflection_rank for f in facts] for facts in c.constructed_facts]
    assert ranks == theirs


def test_a_known_rotation_is_recovered() -> None:
    lrnn = lrnn_of("S4")
    R = rotation(3, 1)
    c = compare(perturbed(lrnn, R, np.zeros((24, 3, 3))), lrnn, sampling=QUICK)
    (h,) = c.heads
    assert h.alignment is not None
    assert h.representation is not None
    assert h.representation.constituents == ["χ4: degree 3, faithful, determinant 1"]
    assert h.alignment.largest < 1e-12
    (mine,), (theirs,) = c.learned.heads, learned_from_lrnn(lrnn).heads
    # the representation is irreducible, so the turn is known up to its sign
    basis = h.geometry.basis
    turned = h.alignment.rotation @ basis.T @ R
    assert min(abs(turned @ turned.T - np.eye(3)).max(), 1) < 1e-12
    assert np.abs(basis @ h.alignment.rotation.T @ h.alignment.rotation @ basis.T - np.eye(3)).max() < 1e-12
    assert mine.dim == theirs.dim


def test_a_known_rotation_and_a_known_noise_are_recovered() -> None:
    """Symmetric noise that no turn of the letters explains leaves the best turn where it was; its size is the residual."""
    lrnn = lrnn_of("S5[transpositions]")
    (head,) = learned_from_lrnn(lrnn).heads
    n = head.dim
    draw = np.random.default_rng(2)
    E = draw.standard_normal(head.A.shape)
    E = E + E.transpose(0, 2, 1)
    turns = []
    for i, j in pairs_of(range(n), range(n)):
        if i < j:
            S = np.zeros((n, n))
            S[i, j], S[j, i] = 1, -1
            turns.append((S @ head.A - head.A @ S).reshape(-1))
    T = np.array(turns).T
    E = (E.reshape(-1) - T @ np.linalg.lstsq(T, E.reshape(-1), rcond=None)[0]).reshape(E.shape)
    E *= 1e-3 / np.abs(E).max()
    R = rotation(n, 3)
    found = align_letters(R @ (head.A + E) @ R.T, head.A)
    Q = found.rotation @ R  # commutes with the permutations: ±(I - 2J/n) or ±I
    J = np.ones((n, n)) / n
    candidates = [s * (np.eye(n) - k * J) for s in (1, -1) for k in (0, 2)]
    assert min(np.abs(Q - X).max() for X in candidates) < 1e-6
    assert abs(found.largest - np.linalg.norm(E, 2, axis=(1, 2)).max()) < 1e-6
    assert abs(found.residual - np.sqrt((E**2).mean())) < 1e-6
    assert found.residual > 1e-4


def test_other_letters_are_far() -> None:
    """3-cycles that are exchanged while the swaps stay: no turn makes S_3's letters out of them."""
    (head,) = learned_from_lrnn(lrnn_of("S3")).heads
    names = [str(x) for x in lrnn_of("S3").automaton.letters]
    place = {name: names.index(name) for name in names}
    cycles = [place["(1, 2, 0)"], place["(2, 0, 1)"]]
    swaps = [place["(1, 0, 2)"], place["(2, 1, 0)"]]
    mixed = head.A.copy()
    mixed[cycles] = mixed[cycles[::-1]]
    assert align_letters(mixed, head.A).largest > 0.5
    mixed[swaps] = mixed[swaps[::-1]]  # together they are a conjugation, which a turn undoes
    assert align_letters(mixed, head.A).largest < 1e-12


def test_wrong_order_is_no_representation() -> None:
    """Letters that act from the other side: the error is of order 1, not 0."""
    lrnn = lrnn_of("S3")
    (head,) = learned_from_lrnn(lrnn).heads
    right = automaton_from_spec("S3", product="right")
    c = compare(learned_from_matrices(head.A, right, H0=head.H0), sampling=QUICK, extract=())
    assert c.trace.observed is not None
    errors = [h.representation.homomorphism_error for h in c.heads if h.representation is not None]
    assert not errors or min(errors) > 0.5


def test_points_are_aligned() -> None:
    draw = np.random.default_rng(0)
    X, R = draw.standard_normal((4, 9)), rotation(4, 5)
    found = align_points(X, R @ X)
    assert np.abs(found.rotation - R).max() < 1e-12
    assert align_points(X, X).rotation.tolist() == np.eye(4).tolist()
    assert disparity(X, 3 * R @ X) < 1e-12
    assert 0.1 < disparity(X, draw.standard_normal((4, 9))) <= 1


def test_spectra_of_factors_are_those_of_their_product() -> None:
    draw = np.random.default_rng(4)
    factors = Factors(draw.uniform(0, 2, (3, 2)), draw.standard_normal((3, 2, 5)) / 2, np.array([1, 0.5, 1]))
    A = np.array([g * np.eye(5) for g in factors.gate])
    for j in range(2):
        v = factors.keys[:, j]
        A = A - factors.beta[:, j, None, None] * v[:, :, None] * np.einsum("xi,xij->xj", v, A)[:, None]
    automaton = automaton_from_spec("cycle:5")
    learned = learned_from_matrices(A, automaton, H0=np.eye(5), factors=factors)
    for x, facts in enumerate(letter_facts(learned.heads[0], learned.letters, 1e-9, 64)):
        assert facts.spectrum is not None
        assert facts.reflection_rank == (2 if factors.gate[x] == 1 else 5)
        mine = [complex(*map(float, e.centre)) for e in facts.spectrum.eigenvalues]
        mine += [facts.gate] * facts.others
        assert np.allclose(
            np.sort_complex(np.array(mine)), np.sort_complex(np.linalg.eigvals(A[x])), atol=1e-9
        )


@pytest.mark.parametrize(
    ("spec", "degrees"),
    [("S4", [1, 1, 2, 3, 3]), ("A5", [1, 3, 3, 4, 5]), ("Q8", [1, 1, 1, 1, 2]), ("mod:6", [1] * 6)],
)
def test_character_tables(spec: str, degrees: list[int]) -> None:
    group = TransitionGroup.of(automaton_from_spec(spec))
    table = character_table(group)
    assert [chi.degree for chi in table.irreducibles] == degrees
    assert table.residual < 1e-12
    regular = np.where(np.arange(group.size) == 0, float(group.size), 0.0)
    assert np.allclose(table.multiplicities(regular), degrees)


def test_limits_and_other_groups_are_said() -> None:
    with pytest.raises(LimitError, match="`max_group`"):
        TransitionGroup.of(automaton_from_spec("S5"), 100)
    with pytest.raises(InputError, match="merges"):
        TransitionGroup.of(automaton_from_spec("flipflop"))
    lrnn = lrnn_of("S5")
    c = compare(
        learned_from_lrnn(lrnn), lrnn, sampling=QUICK, tolerances=Tolerances(max_group=100), extract=()
    )
    assert any("`max_group`" in note for note in c.notes)
    assert c.homomorphism_error is None
    c = compare(learned_from_lrnn(lrnn_of("flipflop")), sampling=QUICK, extract=("clusters",))
    assert any("no group automaton" in note for note in c.notes)
    assert c.extracted[0].is_target
    assert c.heads[0].neutral_errors == {"read": 0}


def test_beta_below_two_predicts_the_failure() -> None:
    """The provable horizon of β is not beyond the first failure, and the head replaced by the exact one does not fail."""
    lrnn = lrnn_of("S4")
    size = Fraction(19, 10)
    (short,) = learned_from_lrnn(scale_betas(lrnn, size)).heads
    (exact,) = learned_from_lrnn(lrnn).heads
    codes = {}
    for q, state in enumerate(lrnn.automaton.states):
        row = np.flatnonzero(lrnn.decode[:, 0] == q)[0]
        head = lrnn.layers[0].heads[0]
        code = np.zeros((head.dim, head.value_dim))
        for i, j, x in head.codes[lrnn.decode[row, 1]]:
            code[i, j] = float(x)
        codes[state] = code
    learned = learned_from_matrices(short.A, lrnn.automaton, H0=exact.H0, codes=codes, factors=short.factors)
    sampling = Sampling(words=64, length=1024, fit=4)
    c = compare(learned, lrnn, sampling=sampling, extract=("exact",))
    h = c.horizon
    assert h.least_beta == pytest.approx(float(size))
    assert h.beta is not None
    assert h.drift is not None
    assert h.observed is not None
    assert 1 <= h.beta < h.observed
    assert 1 <= h.drift < h.observed
    by_name = {x.replaced: x for x in c.causal}
    assert by_name["none"].first_failure == h.observed
    assert by_name["head 1"].first_failure is None
    assert by_name["head 1"].accuracy == 1
    assert c.extracted[0].is_target


def test_a_positive_layer_must_fail() -> None:
    """DeltaNet[0,1] on parity: all eigenvalues in [0, 1], and the certificate that it confuses two words."""
    layer = positive_delta_layer()
    (head,) = layer.heads
    parity = automaton_from_spec("parity")
    A, B = head.A.astype(float), head.B.astype(float)
    learned = learned_from_matrices(A, parity, H0=head.start.astype(float), B=B)
    c = compare(learned, sampling=QUICK, arithmetic="per_step:bf16", extract=())
    assert c.failure.in_zero_one is True
    assert c.failure.certificate is not None
    assert check(c.failure.certificate).verdict == "valid"
    assert c.trace.observed is not None
    assert "bit for bit" in c.failure.text
    limit = dict(comparison_rows(c))["limit"]
    assert limit.startswith("cannot be right on all words: after (")
    assert limit.endswith(f". That need not be why the answer at token {c.trace.observed} is wrong")
    assert limit == c.to_json()["failure"]["text"]
    unsearched = compare(learned, sampling=QUICK, extract=())
    text = "cannot be right on all words in the arithmetic cast: all eigenvalues are in [0, 1] (G.T1); no certificate was looked for"
    assert dict(comparison_rows(unsearched))["limit"].startswith(text)
    right = compare(
        learned_from_lrnn(lrnn_of("parity")), sampling=QUICK, arithmetic="per_step:bf16", extract=()
    )
    assert right.failure.in_zero_one is False
    assert right.failure.certificate is None
    assert "limit" not in dict(comparison_rows(right))


def test_eigenvalues_in_zero_one_are_no_limit_where_powers_settle() -> None:
    """A flip-flop, whose resets have eigenvalues 0 and 1, needs no others."""
    c = compare(learned_from_lrnn(lrnn_of("flipflop")), sampling=QUICK, extract=())
    assert c.failure.in_zero_one is True
    assert "limit" not in dict(comparison_rows(c))


def test_any_stepper_is_compared_by_its_answers() -> None:
    lrnn = lrnn_of("S3")
    learned = learned_from_stepper(LRNNStepper(lrnn, "bf16"), lrnn.automaton)
    c = compare(learned, sampling=QUICK, extract=("clusters",))
    assert c.trace.accuracy == 1
    assert c.heads == ()
    assert any("kv or lstar" in note for note in c.notes)


def test_wrong_input_is_named() -> None:
    parity = automaton_from_spec("parity")
    with pytest.raises(InputError, match="one matrix a letter"):
        learned_from_matrices(np.eye(2)[None], parity, H0=np.ones((2, 1)))
    with pytest.raises(InputError, match="H0"):
        learned_from_matrices(np.eye(2)[None].repeat(2, 0), parity, H0=np.ones(2))
    with pytest.raises(InputError, match="layers"):
        learned_from_lrnn(lrnn_of("T3"))
    with pytest.raises(InputError, match="fit"):
        Sampling(fit=9, length=8)


def test_margin_over_spread_says_whether_the_nearest_mean_is_right() -> None:
    """Against a search over all means; noise that no class depends on is large and must not matter."""
    made = np.random.default_rng(0)
    lengths, words, states = 12, 40, 4
    classes = made.integers(states, size=(lengths, words))
    codes = 4 * made.standard_normal((states, 6))
    codes[:, 4:] = 0
    noise = made.standard_normal((lengths, words, 6)) * np.linspace(0.1, 3, lengths)[:, None, None]
    noise[:, :, 4:] *= 100
    for c in range(states):
        noise[classes == c] -= noise[classes == c].mean(0)
    H = (codes[classes] + noise).reshape(lengths, words, 2, 3)
    every = tuple(range(1, lengths + 1))
    sampling = Sampling(words=words, length=lengths, fit=lengths)
    trace = Trace(sampling, np.ones(lengths), np.zeros(words, dtype=np.int64), every, (H,), classes)
    g = class_geometry(trace, 0, states, 1e-9)
    assert g.told_apart == states
    distances = ((H.reshape(lengths, words, 1, 6)[..., :4] - codes[:, :4]) ** 2).sum(3)
    right = (distances.argmin(2) == classes).all(1)
    assert right.any()
    assert not right.all()
    assert ((g.ratio > 1) == right).all()


def test_a_prediction_is_said_to_be_no_bound() -> None:
    """It is an estimate, so it can be less than a bound that stands beside it."""
    assert describe_prediction(833, 64).startswith("an estimate from the first 64 letters")
    assert describe_prediction(64, 64).startswith("within the first 64 letters")
    assert all("no bound, and may lie below one" in describe_prediction(at, 64) for at in (1, 64, 65, 10_000))
