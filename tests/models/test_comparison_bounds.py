"""How `compare` says where the first wrong answer lies beside the bounds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mirrormata.models.comparison._causes import Horizon
from mirrormata.models.comparison._result import describe_bounds

H = Horizon("fp32", 7_270, 1.999974, None, 129, 655, 853, 1_024)


@pytest.mark.parametrize(
    ("observed", "said"),
    [
        (
            853,
            "The first wrong answer, token 853, comes beyond 129, and before 7,270, so β does not explain it: another error or the "
            "model's own read-out does.",
        ),
        (8_000, "The first wrong answer, token 8,000, comes beyond 7,270 and 129."),
        (
            129,
            "comes before 7,270 and 129, so β or drift does not explain it: another error or the model's own read-out does.",
        ),
        (None, "No wrong answer was met."),
    ],
)
def test_bounds_say_how_the_first_wrong_answer_relates(observed: int | None, said: str) -> None:
    text = describe_bounds(replace(H, observed=observed), exact=True)
    assert text.startswith(
        "7,270 by the least β‖k‖² = 1.999974 alone; 129 by drift from the snapped letters (where the nearest"
    )
    assert text.endswith(said)


def test_no_bounds() -> None:
    none = replace(H, beta=None, drift=None)
    assert describe_bounds(none, exact=True) == "no limit found"
    assert describe_bounds(none, exact=False) == "no bound applies"
