"""Diagonal channels by operations turn only with a negative weight."""

from __future__ import annotations

import pytest

from mirrormata.theory.impossibility._orbits import diagonal_channels


@pytest.mark.parametrize(
    ("values", "channels", "turning"),
    [("fp4_e2m1", 1_800, 1_438), ("int:-4..4", 405, 312), ("fixed:5:2", 16_384, 14_670)],
)
def test_channels_turn_only_with_a_negative_weight(values: str, channels: int, turning: int) -> None:
    assert diagonal_channels(values) == (channels, 0)
    assert diagonal_channels(values, negative=True)[1] == turning
