"""A rotation by 2π/60 has to be rounded: how long is that provably harmless, and how long does it last?"""

from __future__ import annotations

from mirrormata import construct, random_words, run
from mirrormata.theory import horizons

rotation = construct("mod:60")
integer = construct("mod:60", exactness="integer")
print(f"rotation: {rotation.householders} factors, {rotation.heads} head, {rotation.exactness}")
for dtype, length in horizons(rotation).items():
    report = run(rotation, random_words(rotation, 32, 2_000, seed=1), dtype=dtype)
    seen = "none" if report.first_error is None else f"token {report.first_error}"
    print(f"  {dtype:>8}: certified to {length:,}; first error in 32 words of 2,000: {seen}")
    assert report.first_error is None or length is None or report.first_error > length

print(f"integers: {integer.householders} factors, {integer.heads} heads, {integer.exactness}")
errors = {d: run(integer, random_words(integer, 32, 2_000, seed=1), dtype=d).errors for d in integer.formats}
print(f"  errors: {errors}")
