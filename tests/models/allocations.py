"""Peaks of memory as torch's allocator on the CPU reports them, temporary tensors included."""

from __future__ import annotations

from collections.abc import Callable

from torch.profiler import ProfilerActivity, profile


def peak_of(function: Callable[[], object]) -> int:
    """The most bytes that were allocated at once while a function ran, beyond those of before."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        result = function()
    assert result is not NotImplemented  # kept until here
    results = seen.profiler.kineto_results
    events = [event for event in results.events() if event.name() == "[memory]"]
    assert events
    now = most = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return most
