"""Mutations of the arithmetic: that of the library, and that of the checkers."""

from __future__ import annotations

from .record import Mutation

ROUNDING, VALUES = "theory.arithmetic._rounding:", "theory.arithmetic._value_sets:"
MODELS, SUMS = "theory.arithmetic._arithmetic:", "theory.arithmetic._exact_sum:"
CHECKER = "theory.checker._arithmetic:"
MUTATIONS = [
    Mutation(
        ROUNDING + "FloatFormat.tie_beyond",
        "- self.precision)",
        "- self.precision + 1)",
        "the number beyond which nearest rounding overflows lies a whole step above the largest value",
    ),
    Mutation(
        ROUNDING + "FORMATS",
        "Fraction(448)",
        "Fraction(480)",
        "e4m3 has 480, which is its nan, as its largest value",
    ),
    Mutation(
        ROUNDING + "round_fraction",
        "max(binary_exponent(size), f.min_exponent)",
        "binary_exponent(size)",
        "exact numbers below the normal ones are rounded as if the exponent had no bound",
    ),
    Mutation(
        ROUNDING + "binary_exponent",
        "(size < ",
        "(size <= ",
        "powers of two get the exponent below",
        equivalent_because="a power of two is a value of each format that reaches so far, and so of the finer grid too",
    ),
    Mutation(
        ROUNDING + "binary_exponent",
        "- size.denominator.bit_length()",
        "- size.denominator.bit_length() + 1",
        "most numbers get the exponent above, and so lose a bit",
    ),
    Mutation(
        ROUNDING + "whole_number",
        "ceil(x - Fraction(1, 2))",
        "floor(x + Fraction(1, 2))",
        "exact ties go toward +∞, not toward -∞",
    ),
    Mutation(
        ROUNDING + "whole_numbers",
        "(part <= -0.5)",
        "(part < -0.5)",
        "negative ties of arrays go toward zero, not toward -∞",
    ),
    Mutation(
        ROUNDING + "_overflow_value",
        '"ru" if negative else "rd"',
        '"rd" if negative else "ru"',
        "directed modes overflow on the wrong side: exact numbers",
    ),
    Mutation(
        ROUNDING + "_round_array_directed",
        '(mode == "ru") & (beyond < 0)',
        '(mode == "ru") & (beyond > 0)',
        "toward +∞ overflows on the wrong side: arrays",
    ),
    Mutation(
        ROUNDING + "_round_array_directed",
        "(beyond == float(f.tie_beyond))",
        "(beyond >= float(f.tie_beyond))",
        "ties toward -∞: all that is too large stays finite",
    ),
    Mutation(
        ROUNDING + "FloatFormat.grids",
        "(mantissa - self.precision + 1)",
        "(mantissa - self.precision)",
        "arrays are rounded to one bit more than the format has",
    ),
    Mutation(
        ROUNDING + "round_array",
        "f.overflow, x[large]",
        "float(f.max_finite), x[large]",
        "arrays saturate where the format has an infinity",
    ),
    Mutation(
        VALUES + "Grid.round_exact",
        ", self.low), self.high)",
        ", -self.high), self.high)",
        "the lower end of a grid is taken for minus the upper one: exact numbers",
    ),
    Mutation(
        VALUES + "Grid.round_array",
        "self.low, self.high)",
        "self.low - 1, self.high)",
        "a grid has one value too many at its lower end: arrays",
    ),
    Mutation(
        VALUES + "FiniteSet.round_exact",
        "x - low > high - x",
        "x - low >= high - x",
        "exact ties between listed values go up",
    ),
    Mutation(
        VALUES + "FiniteSet.round_array",
        "x > low / 2 + high / 2",
        "x >= low / 2 + high / 2",
        "ties between listed values go up: arrays",
    ),
    Mutation(
        MODELS + "Cast.round",
        '"tie_low"',
        '"rne" if isinstance(target, FloatFormat) else "tie_low"',
        "the papers' cast breaks ties to even, not toward -∞",
    ),
    Mutation(
        MODELS + "Cast.round",
        "saturating=True",
        "saturating=False",
        "the papers' cast, to a finite set, overflows to infinity",
    ),
    Mutation(
        MODELS + "PerOp._accumulate",
        'self.order == "tree" and',
        "False and",
        "the order tree is the order left",
    ),
    Mutation(
        MODELS + "PerOp._accumulate",
        "[extra, *products], None",
        "[*products, extra], None",
        "the order bias adds the additive term last",
    ),
    Mutation(
        MODELS + "PerOp._accumulate",
        "self.multiply_add(x, y, total)",
        "self.add(self.multiply(x, y), total)",
        "the order fma rounds each product",
    ),
    Mutation(
        MODELS + "PerOp._double_rounding_is_harmless",
        'self.mode == "rne" and (self.values.precision <= 25',
        "(self.values.precision <= 25",
        "sums in directed modes are rounded to float64 first",
    ),
    Mutation(
        MODELS + "_exact_affine",
        "product + fractions(b)",
        "product - fractions(b)",
        "B is subtracted",
    ),
    Mutation(
        SUMS + "round_to_odd",
        "np.signbit(x), 1, -1)",
        "np.signbit(x), -1, 1)",
        "the odd neighbour is taken on the wrong side of the sum",
    ),
    Mutation(
        SUMS + "two_sum",
        "+ (y - v)",
        "- (y - v)",
        "the error of a sum has the wrong sign in its second part",
    ),
    Mutation(
        SUMS + "product_error",
        "- x_high * y_low)",
        "+ x_high * y_low)",
        "the error of a product has the wrong sign in one part",
    ),
    Mutation(
        "theory.arithmetic._exact_sum:_odd_product_sum",
        "if not short:",
        "if short:",
        "the errors of long products are left out",
    ),
    Mutation(
        CHECKER + "WHOLE",
        "-((d - 2 * n) // (2 * d))",
        "(2 * n + d) // (2 * d)",
        "the checkers break ties toward +∞",
    ),
    Mutation(CHECKER + "WHOLE", "if n < 0", "if n > 0", "the checkers round away from zero, not toward it"),
    Mutation(CHECKER + "WHOLE", '"rd": lambda n, d: n', '"rd": lambda n, d: -n', "the checkers lose a sign"),
    Mutation(
        CHECKER + "nearest_even", "and q % 2", "and q % 2 == 0", "the checkers' ties go to the odd number"
    ),
    Mutation(
        CHECKER + "nearest_even",
        "2 * rest > d",
        "rest > d",
        "the checkers round to nearest down, but for ties",
    ),
    Mutation(
        CHECKER + "dyadic", "1 << -e", "1 << 1 - e", "the checkers halve the numbers below the precision"
    ),
    Mutation(
        CHECKER + "float_rounding",
        "exponent - below",
        "exponent",
        "the checkers round half of all numbers to a bit too few",
    ),
    Mutation(
        CHECKER + "float_rounding",
        "size < d << exponent",
        "size <= d << exponent",
        "powers of two get the exponent below",
        equivalent_because="a power of two is a value of each format that reaches so far, and so of the finer grid too",
    ),
    Mutation(
        CHECKER + "float_rounding",
        "max(exponent - below, least)",
        "exponent - below",
        "the checkers' numbers below the normal ones have all bits",
    ),
    Mutation(
        CHECKER + "float_rounding",
        "exponent - precision + 1",
        "exponent - precision",
        "the checkers' formats have a bit too many",
    ),
    Mutation(
        CHECKER + "float_rounding",
        "exponent < top",
        "exponent <= top",
        "the checkers do not notice an overflow to less than twice the greatest power of two",
    ),
    Mutation(
        CHECKER + "float_rounding",
        "whole(n, d << unit)",
        "whole(n, d)",
        "the checkers multiply large numbers by the size of their last bit",
    ),
    Mutation(
        CHECKER + "ratio_rounding",
        "whole(n * parts, d), low)",
        "whole(n * parts, d), -high)",
        "the lower end of a grid is taken for minus the upper one: the checkers",
    ),
    Mutation(
        CHECKER + "Arithmetic.sum",
        "y.numerator * x.denominator",
        "y.numerator * y.denominator",
        "the checkers add numbers with different denominators as if they had one",
    ),
    Mutation(
        CHECKER + "Arithmetic.product",
        "x.denominator * y.denominator",
        "x.denominator",
        "the checkers lose a denominator of a product",
    ),
    Mutation(
        CHECKER + "FORMATS",
        "Fraction(57344)",
        "Fraction(49152)",
        "the checkers' e5m2 ends a step too early",
    ),
    Mutation(
        CHECKER + "float_rounding",
        '"ru" if n < 0 else "rd"',
        '"rd" if n < 0 else "ru"',
        "the checkers' directed modes overflow on the wrong side",
    ),
    Mutation(
        CHECKER + "float_rounding",
        "<= largest or inward",
        "< 2 * largest or inward",
        "the checkers cut off an overflow up to twice the largest value",
    ),
    Mutation(
        CHECKER + "Arithmetic.operations",
        'if self.order == "fma"',
        "if False",
        "the checkers' fma rounds each product",
    ),
    Mutation(
        CHECKER + "Arithmetic.operations",
        "sums.get(2 * k + 1, ZERO)",
        "ZERO",
        "the checkers' tree leaves out every second neighbour",
    ),
    Mutation(
        CHECKER + "Arithmetic.operations",
        'total if self.order == "bias" else self.sum(total, b)',
        "self.sum(total, b)",
        "the checkers' order bias adds the additive term twice",
    ),
    Mutation(
        CHECKER + "round_to_listed",
        "up = 2 * n * q * s > d * (p * s + r * q)",
        "up = 2 * n * q * s >= d * (p * s + r * q)",
        "the checkers' ties between listed values go up",
    ),
]
