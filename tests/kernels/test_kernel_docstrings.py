"""What `mirrormata.kernels` exports is documented in full: every argument, and examples whose output is real."""

from __future__ import annotations

import doctest
import inspect

import pytest

import mirrormata.kernels

FUNCTIONS = [
    name for name in dir(mirrormata.kernels) if inspect.isfunction(getattr(mirrormata.kernels, name, None))
]


def test_the_functions_are_found() -> None:
    assert {"delta_product", "diagonal_scan", "launch_counts", "rms_normalise"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_is_documented(name: str) -> None:
    function = getattr(mirrormata.kernels, name)
    text = inspect.getdoc(function) or ""
    parameters = list(inspect.signature(function).parameters)
    arguments = text.partition("Args:")[2].partition("\nReturns:")[0]
    for parameter in parameters:
        assert f"\n    {parameter}: " in arguments, parameter
    if parameters:
        assert "\nReturns:" in text
        assert "\nRaises:" in text


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "reset_launch_counts"])
def test_examples_are_real(name: str) -> None:
    function = getattr(mirrormata.kernels, name)
    (example,) = doctest.DocTestFinder(recurse=False).find(function, name, globs={name: function})
    assert example.examples
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
