"""Changes of signs, orders, transpositions, angles and roundings that the claims about impossibility must notice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from mirrormata.theory.arithmetic._arithmetic import PerOp, parse_arithmetic
from mirrormata.theory.claims._counters import DeltaStepper, exact_model
from mirrormata.theory.impossibility._orbits import AffineHead, AffineModel
from mirrormata.theory.spectra._norms import transpose

from .claim_mutation import Mutation


def _full_reflection(original: Callable[[], AffineModel]) -> Callable[[], AffineModel]:
    def changed() -> AffineModel:
        model = original()
        head = model.heads[0]
        A = head.A.copy()
        defect = A[0] - A[1]
        A[1] = A[0] - defect * (2 / sum(defect[i, i] for i in range(len(defect))))
        return AffineModel([AffineHead(A, head.B, head.start)], model.arithmetic, model.name)

    return changed


def _transposed_transition(original: Any) -> Any:
    def changed(period: int) -> Any:
        witness = original(period)
        head = witness.stepper.heads[0]
        model = exact_model(head.A[0].T, head.B[0, :, 0].tolist(), (0, 0), witness.arithmetic)
        return replace(witness, stepper=model)

    return changed


def _rounded_to_zero(original: Any) -> Any:
    def changed() -> Any:
        witness = original()
        head = witness.stepper.heads[0]
        name = "per_step:int:-4..4:rz"
        model = exact_model(head.A[0], head.B[0, :, 0].tolist(), (0, 0), name)
        return replace(witness, stepper=model, arithmetic=name)

    return changed


def _chopped_operations(original: Any) -> Any:
    def changed(period: int) -> Any:
        witness = original(period)
        s, chopped = witness.stepper, parse_arithmetic("per_op:bf16:rz")
        assert isinstance(chopped, PerOp)
        stepper = DeltaStepper(s.key[0].tolist(), 1.0, float(s.value[0, 0]), [0] * s.key.shape[1], chopped)
        return replace(witness, stepper=stepper, arithmetic=chopped.name)

    return changed


def _layer_with(change: Callable[[Any], dict[str, Any]]) -> Callable[[Any], Any]:
    def mutation(original: Any) -> Any:
        def changed(*arguments: Any) -> Any:
            layer = original(*arguments)
            return replace(layer, **change(layer))

        return changed

    return mutation


def _antisymmetric(original: Any) -> Any:
    def changed(*arguments: Any) -> Any:
        for A in original(*arguments):
            yield np.triu(A) - np.tril(A, -1)

    return changed


MUTATIONS = [
    Mutation(
        "G.L1", "theory.impossibility._cast_theorems:cast_sequence",
        lambda f: lambda terms, *rest: f([(c, m, -x) for c, m, x in terms], *rest), "sign: the bases negated",
    ),
    Mutation(
        "G.L1", "theory.impossibility._cast_theorems:find_settled_values",
        lambda f: lambda *given: (found := f(*given)) and (*found[:2], found[1]), "order: odd members take the even end",
    ),
    Mutation(
        "G.T1", "theory.impossibility._cast_model:eigenvalue",
        lambda f: lambda draw, negative: -f(draw, negative), "sign: the eigenvalues negated",
    ),
    Mutation("G.T1", "theory.claims.g_t1:positive_delta_layer", _full_reflection, "β: a full reflection in the layer"),
    Mutation(
        "G.T1.printed", "theory.claims.g_t1_printed:two_projections", _transposed_transition,
        "order: the second factor applied first",
    ),
    Mutation(
        "G.T1.printed", "theory.claims.g_t1_printed:integer_rounding", _rounded_to_zero,
        "rounding: toward zero in place of the nearest",
    ),
    Mutation(
        "G.T2", "theory.impossibility._cast_theorems:ROTATIONS",
        lambda table: dict.fromkeys(table, ((1, 0), (0, 1))), "angle: 0 in place of 2π/m",
    ),
    Mutation(
        "G.T2", "theory.impossibility._cast_theorems:reflections",
        lambda f: lambda order: f(order)[:1] * 2, "order: the same reflection twice in the second layer",
    ),
    Mutation(
        "G.T2.printed", "theory.claims.g_t2_printed:two_projections", _transposed_transition,
        "order: the second factor applied first",
    ),
    Mutation(
        "G.T2.printed", "theory.claims.g_t2_printed:delta_operations", _chopped_operations,
        "rounding: toward zero in place of the nearest",
    ),
    Mutation(
        "PT.R1", "theory.claims._settling:_positive",
        lambda f: lambda A: f(-A), "sign: A ⪯ 0 in place of A ⪰ 0",
    ),
    Mutation(
        "PT.R1", "theory.claims._settling:_tables",
        lambda f: lambda *a: f(*a)[..., ::-1], "order: roundings that fall",
    ),
    Mutation(
        "PT.R2", "theory.claims._settling:_matrices", _antisymmetric, "sign: A[j, i] = -A[i, j]"
    ),
    Mutation(
        "own.R3", "theory.claims._counters:projection",
        lambda f: lambda v: 2 * np.diag([Fraction(1)] * len(v)) - f(v), "sign: I + v vᵀ/‖v‖² in place of I - v vᵀ/‖v‖²",
    ),
    Mutation(
        "own.R3", "theory.claims.own_r3:two_projections", _transposed_transition, "order: the second factor applied first"
    ),
    Mutation(
        "own.R4", "theory.arithmetic._arithmetic:PerOp.subtract",
        lambda f: lambda self, x, y: self.add(x, y), "sign: e = v + s",
    ),
    Mutation(
        "own.R4", "theory.claims.own_r4:delta_operations", _chopped_operations, "rounding: toward zero in place of the nearest"
    ),
    Mutation(
        "H.open-beta", "theory.claims.h_open_beta:gh_factor",
        lambda f: lambda beta, v: f(2 * beta, v), "β: twice as large",
    ),
    Mutation(
        "H.open-beta", "theory.claims.h_open_beta:scale_letters",
        lambda f: lambda head, size: f(head, size / 2), "angle: half of β‖v‖²",
    ),
    Mutation(
        "H.open-beta", "theory.claims.h_open_beta:subtract",
        lambda f: lambda A, B: f(A, tuple(tuple(-x for x in row) for row in B)), "sign: A + I in place of A - I",
    ),
    Mutation(
        "H.rank", "theory.claims.h_rank:permutation_factors",
        lambda f: lambda image: f(image)[::-1], "order: the last swap applied first",
    ),
    Mutation(
        "H.rank", "theory.claims.h_rank:cycle_lengths",
        lambda f: lambda image: [x for x in f(image) if x > 1], "count: fixed points left out of the cycles",
    ),
    Mutation(
        "CK.S5", "theory.checker.bound:split_icosahedral",
        lambda f: lambda a, b: f(a, a), "order: the second element is the first, not its conjugate",
    ),
    Mutation(
        "CK.S5", "theory.claims.ck_s5:random_factors",
        lambda f: lambda draw, n, k, **rest: f(draw, n, k + 1, **rest), "count: k + 1 reflections in place of k",
    ),
    Mutation(
        "S.star-free", "theory.claims.s_star_free:_layer",
        _layer_with(lambda layer: {"added": -layer.added}), "sign: -e_c written at a reset",
    ),
    Mutation(
        "S.star-free", "theory.claims.s_star_free:_layer",
        _layer_with(lambda layer: {"resets": 0 * layer.resets}),
        "order: the new point read in place of the point before",
    ),
    Mutation(
        "S.star-free", "theory.claims.s_star_free:words_settle",
        lambda f: lambda weights, added, name: f([-a for a in weights], added, name), "sign: -a in place of a",
    ),
    Mutation(
        "E.neutral", "theory.claims.e_neutral:defect",
        lambda f: lambda A, d: f(transpose(A), d), "transposition: Aᵀ in place of A",
    ),
    Mutation(
        "PD.N-1", "theory.claims.pd_n_1:push_relation",
        lambda f: lambda c, image: [c[r] for r in image], "transposition: c_f(q) in place of the sum over f(q) = r",
    ),
    Mutation(
        "PD.N-1", "theory.claims.pd_n_1:push_relation",
        lambda f: lambda c, image: f([-x for x in c[:1]] + list(c[1:]), image), "sign: c_0 negated",
    ),
    Mutation(
        "own.ranks", "theory.claims.own_ranks:line_condition",
        lambda f: lambda image: tuple(-c if i == 0 else c for i, c in enumerate(f(image))), "sign: of the constant term",
    ),
    Mutation(
        "own.ranks", "theory.planning._one_vector:most_ranks",
        lambda f: lambda maps, different: (f(maps, different)[0] + 1, f(maps, different)[1]), "rounding: one dimension too many",
    ),
]  # fmt: skip
