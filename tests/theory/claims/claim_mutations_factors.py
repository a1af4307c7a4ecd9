"""Mutations of claims of factors, spectra and single layers: signs, orders, transpositions and angles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions.algebra._householder import GHFactor
from mirrormata.constructions.algebra._matrices import divide, transpose

from .claim_mutation import Mutation

Function = Callable[..., Any]


def reversed_result(original: Function) -> Function:
    """The list in the opposite order."""
    return lambda *given: original(*given)[::-1]


def reversed_argument(original: Function) -> Function:
    """The first argument in the opposite order."""
    return lambda first, *rest: original(first[::-1], *rest)


def negative_betas(original: Function) -> Function:
    """I + β v vᵀ in place of I - β v vᵀ."""
    return lambda factors, n: original([replace(f, beta=-f.beta) for f in factors], n)


def transposed_argument(original: Function) -> Function:
    """The first argument transposed."""
    return lambda first, *rest: original(first.T, *rest)


def transposed_layer(original: Function) -> Function:
    """Each letter's matrix transposed."""

    def made(*given: Any) -> LRNN:
        lrnn: LRNN = original(*given)
        (head,) = lrnn.layers[0].heads
        moved = tuple(
            replace(t, matrix=tuple(sorted((j, i, x) for i, j, x in t.matrix or ())))
            for t in head.transitions
        )
        return replace(lrnn, layers=(replace(lrnn.layers[0], heads=(replace(head, transitions=moved),)),))

    return made


def masked_at_target(original: Function) -> Function:
    """Copies that read the point they should write to."""

    def made(image: Sequence[int]) -> tuple[GHFactor, ...]:
        other = [
            {i for i, _ in f.vector}.difference(f.mask or ()) if f.mask is not None else None
            for f in original(image)
        ]
        return tuple(
            f if points is None else replace(f, mask=tuple(points))
            for f, points in zip(original(image), other, strict=True)
        )

    return made


def negative_first(original: Function) -> Function:
    """The first argument negated."""
    return lambda first, *rest: original(-first, *rest)


def opposite_angles(original: Function) -> Function:
    """A Gram matrix with the signs of its inner products turned."""
    return lambda G: original(2 * G.eye(G.rows) - G)


def transposed_map(_: Function) -> Function:
    """Tᵀ x in place of T x."""
    return lambda image, x: [x[target] for target in image]


def transposed_values(original: Function) -> Function:
    """A dictionary's matrices transposed."""
    return lambda: {key: transpose(A) for key, A in original().items()}


def opposite_scale(original: Function) -> Function:
    """By -c in place of c."""
    return lambda c, A: original(-c, A)


def absolute_vectors(original: Function) -> Function:
    """Vectors without their signs."""
    return lambda image: [tuple(abs(c) for c in x) for x in original(image)]


def wrong_region(_: Function) -> Function:
    """The discriminant with the sign of t turned."""
    return lambda b_1, b_2, c: bool(
        b_1 > 1 and b_2 > 1 and (b_1 * b_2 * c + b_1 + b_2 - 2) ** 2 < 4 * (b_1 - 1) * (b_2 - 1)
    )


def signs_first(_: Function) -> Function:
    """diag(±1)·(I - 2kkᵀ), the factors in the opposite order."""

    def written(factor: GHFactor, signs: Sequence[int]) -> Any:
        return tuple(
            tuple(s * x for x in row) for s, row in zip(signs, factor.matrix(len(signs)), strict=True)
        )

    return written


def negative_signs(original: Function) -> Function:
    """The form with all its signs turned."""

    def found(A: Any) -> Any:
        form = original(A)
        return None if form is None else (form[0], tuple(-s for s in form[1]))

    return found


def partly_reversed(original: Function) -> Function:
    """Two factors, which stand before a value in B, in the opposite order; A of three or more as it is."""
    return lambda factors, order: original(factors[::-1] if len(factors) == 2 else factors, order)


def stretched_values(original: Function) -> Function:
    """A dictionary's matrices R as S R S⁻¹, S = diag(1, 1, 2): no isometries, and the group that they were."""

    def changed() -> dict[Any, Any]:
        scale = (1, 1, 2)
        return {
            key: tuple(
                tuple(divide(x * s, t) for x, t in zip(row, scale, strict=True))
                for row, s in zip(R, scale, strict=True)
            )
            for key, R in original().items()
        }

    return changed


def always_rising(original: Function) -> Function:
    """Products in one order, whatever is asked for."""
    return lambda factors, values, _: original(factors, values, "rising to the right")


def later_phase(original: Function) -> Function:
    """The buffer is read one token too far back."""
    return lambda self, phase, buffer: original(self, phase - 1, buffer)


def criteria_exchanged(original: Function) -> Function:
    """Each criterion under the other's name."""

    def found(spectrum: Any) -> dict[str, Any]:
        both = original(spectrum)
        return {"repaired": both["printed"], "printed": both["repaired"]}

    return found


P1_2, FACTORS = "theory.claims.g_p1_2:", "theory.claims._symbolic:"
MUTATIONS = [
    Mutation("G.P1.1", "theory.claims.g_p1_1:product_of", negative_betas, "sign: I + βvvᵀ"),
    Mutation("G.P1.1", FACTORS + "factor", lambda f: lambda b, k: f(-b, k), "sign: I + βkkᵀ in the identity"),
    Mutation("G.P1.2", P1_2 + "permutation_factors", reversed_result, "order: of the swaps"),
    Mutation("G.P1.2", P1_2 + "orthogonal_factors", reversed_result, "order: of the reflections"),
    Mutation("G.P1.2", P1_2 + "contraction_factors", reversed_result, "order: scalings after reflections"),
    Mutation("G.P1.2", "theory.claims.g_p1_2:_reflections", transposed_argument, "transposition: of U and V"),
    Mutation("G.P1.3", "theory.claims.g_p1_3:NON_REAL_KEYS", lambda keys: keys[::-1], "order: of the keys"),
    Mutation(
        "G.P1.3",
        "theory.claims._symbolic:gram_product",
        opposite_angles,
        "sign: of the inner products",
    ),
    Mutation("G.P1.3", "theory.claims.g_p1_3:product_of", negative_betas, "sign: I + βvvᵀ"),
    Mutation(
        "G.A3", "theory.claims.g_a3:unbounded_lrnn", transposed_layer, "transposition: of the 0/1 matrices"
    ),
    Mutation("DP.P1", "theory.claims.dp_p1:nonreal_pair", wrong_region, "sign: of t in the discriminant"),
    Mutation("DP.P1", FACTORS + "rotation", negative_first, "angle: turned the other way"),
    Mutation("DP.P1", FACTORS + "plane_pair", lambda f: lambda x, y, c: f(x, -y, c), "sign: of β_2"),
    Mutation("DP.T4", FACTORS + "mirror_key", lambda f: lambda a: f(2 * a), "angle: not halved"),
    Mutation("DP.T4", FACTORS + "reflection", negative_first, "angle: turned the other way"),
    Mutation(
        "DP.T4",
        "constructions.theorems._rotations:reflection",
        lambda f: lambda k, m: f(-k, m),
        "sign: of the mirror's angle",
    ),
    Mutation("DP.T4", "theory.claims.dp_t4:orthogonal_factors", reversed_result, "order: of the reflections"),
    Mutation("DP.T6", "theory.claims.dp_t6:swap_copy_word", reversed_result, "order: of the steps"),
    Mutation(
        "DP.T6",
        "theory.claims.dp_t6:swap_copy_factors",
        masked_at_target,
        "transposition: copies read the target",
    ),
    Mutation("R7", "theory.claims.r7:swap_copy_factors", reversed_result, "order: of the steps"),
    Mutation(
        "R7",
        "theory.claims.r7:FourLayers.tell_last_layer",
        later_phase,
        "order: the buffer one token late",
    ),
    Mutation(
        "DP.T8",
        "theory.claims.dp_t8:rwkv7_radius",
        lambda f: lambda a: f(2 * a),
        "angle: π/3 in place of π/6",
    ),
    Mutation("DP.T8", "theory.claims.dp_t8:pair_product", lambda f: lambda k: f(12 - k), "angle: π/2 - θ"),
    Mutation(
        "DP.T8.printed",
        "theory.claims.dp_t8_printed:pair_product",
        lambda f: lambda k: f(k // 2),
        "angle: π/6",
    ),
    Mutation(
        "own.row-gates",
        "theory.claims.own_row_gates:transition",
        lambda f: lambda k, b, w: f(k, [-x for x in b], w),
        "sign: what is erased is added",
    ),
    Mutation(
        "own.row-gates",
        "theory.claims.own_row_gates:transition",
        lambda f: lambda k, b, w: f(k, [x if i else 4 * x for i, x in enumerate(b)], w),
        "a gate of the first row that is too large",
    ),
    Mutation(
        "own.no-parity",
        "theory.claims.own_no_parity:transition",
        lambda f: lambda k, b, w: f(k, b, [-1 for _ in w]),
        "sign: of the decays",
    ),
    Mutation(
        "DP.L1",
        "theory.claims.dp_l1:normed_equal",
        lambda f: lambda x, y, _: f(x, y, 0),
        "the norm's ε left out",
    ),
    Mutation(
        "DP.L1",
        "theory.claims.dp_l1:queries",
        lambda f: lambda rows, states: list(f(rows, states))[:1],
        "the first row alone is read",
    ),
    Mutation("CK.1", "theory.claims.ck_1:multiply_out", signs_first, "order: signs before the reflection"),
    Mutation("CK.1", "theory.claims.ck_1:reflection_and_signs", negative_signs, "sign: of all signs"),
    Mutation("CK.1", FACTORS + "reflection", negative_first, "angle: turned the other way"),
    Mutation(
        "own.LMI",
        "theory.planning._gram_equations:_apply_map",
        transposed_map,
        "transposition: of the letters",
    ),
    Mutation(
        "own.LMI",
        "theory.planning._gram_equations:_find_fixed_vectors",
        absolute_vectors,
        "sign: x is not of sum zero",
    ),
    Mutation(
        "own.LMI",
        "theory.claims.own_lmi:gram_of",
        lambda f: lambda lrnn: opposite(f(lrnn)),
        "sign: of the Gram matrix",
    ),
    Mutation(
        "DP.C1",
        "theory.claims.dp_c1:icosahedral_rotations",
        transposed_values,
        "transposition: of the rotations",
    ),
    Mutation(
        "DP.C1",
        "theory.claims.dp_c1:icosahedral_rotations",
        stretched_values,
        "the axes scaled: no isometries",
    ),
    Mutation("DP.C1", "theory.claims.dp_c1:scale_matrix", opposite_scale, "sign: R in place of -R"),
    Mutation(
        "DP.C1.printed", "theory.claims.dp_c1_printed:scale_matrix", opposite_scale, "sign: R in place of -R"
    ),
    Mutation("DP.B6", "theory.claims.dp_b6:criteria", criteria_exchanged, "order: of the criteria"),
    Mutation(
        "DP.B6.printed", "theory.claims.dp_b6_printed:criteria", criteria_exchanged, "order: of the criteria"
    ),
    Mutation("DP.eq3", "theory.claims.dp_eq3:flatten_token", always_rising, "order: of the product"),
    Mutation(
        "DP.eq3", "theory.claims.dp_eq3:multiply_factors", partly_reversed, "order: of the factors in B"
    ),
    Mutation(
        "DP.eq3.printed",
        "theory.claims.dp_eq3_printed:product_of",
        reversed_argument,
        "order: of the micro-steps",
    ),
]


def opposite(A: Any) -> Any:
    """-A."""
    return tuple(tuple(-x for x in row) for row in A)
