"""The benchmark of the layers' kernels: small shapes, both backends right."""

from __future__ import annotations

import pytest

from mirrormata.benchmarks.layer_kernels import compare
from mirrormata.tests.kernels.devices import DEVICE, on_triton


@on_triton
@pytest.mark.parametrize(
    ("name", "shape"), [("short_convolution", (2, 2, 9, 8, 4)), ("selective_scan", (2, 2, 9, 8, 4))]
)
def test_both_backends_are_right(name: str, shape: tuple[int, ...]) -> None:
    row = compare(name, shape, DEVICE.type, lambda run: len(run()))
    assert row["shape"] == list(shape)
    for backend in ("triton", "torch"):
        assert row[backend]["milliseconds"] == len(row[backend]["errors"]) > 2
        assert max(row[backend]["errors"]) < 0.01
