"""`StepGraphs`: training steps on a GPU, recorded once for each shape of batch and then replayed without the host's share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor

from ...foundation._errors import MirrormataWarning

Step: TypeAlias = Callable[[Tensor, Tensor], tuple[Tensor, ...]]
"""An update of all that is trained by letters and labels; what is measured of it, on the device."""
MOST = 160
"""Shapes that are recorded; each keeps a few megabytes. Others run as they are."""


class _Recorded(NamedTuple):
    graph: torch.cuda.CUDAGraph
    letters: Tensor
    labels: Tensor
    found: tuple[Tensor, ...]


class StepGraphs:
    """Calls `step` for a shape's first batch, which compiles its kernels; records it at the second, replays it from there on.

    A replay launches the same kernels in the same order, so its results are those of the step itself. All calls must be made
    within `stream()`. The step must read nothing from the device, and whatever changes between calls (the learning rate)
    must lie in tensors. A step that cannot be recorded runs as it is, with one warning.
    """

    def __init__(self, step: Step, device: torch.device) -> None:
        self.step = step
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle()
        self._recorded: dict[torch.Size, _Recorded | None] = {}
        self._off = False

    @contextmanager
    def stream(self) -> Iterator[None]:
        """The stream that steps run and are recorded on: after all that was begun before, and before all that comes after."""
        outside = torch.cuda.current_stream(self._stream.device)
        self._stream.wait_stream(outside)
        with torch.cuda.stream(self._stream):
            yield
        outside.wait_stream(self._stream)

    def __call__(self, letters: Tensor, labels: Tensor) -> tuple[Tensor, ...]:
        """One step; the tensors found are overwritten by later calls of this shape."""
        shape = letters.shape
        if shape not in self._recorded:
            if len(self._recorded) < MOST:
                self._recorded[shape] = None
            return self.step(letters, labels)
        recorded = self._recorded[shape]
        if recorded is None and not self._off:
            recorded = self._recorded[shape] = self._record(letters, labels)
        if recorded is None:
            return self.step(letters, labels)
        recorded.letters.copy_(letters)
        recorded.labels.copy_(labels)
        recorded.graph.replay()
        return recorded.found

    def _record(self, letters: Tensor, labels: Tensor) -> _Recorded | None:
        graph = torch.cuda.CUDAGraph()
        letters, labels = letters.clone(), labels.clone()
        try:
            torch.cuda.synchronize(letters.device)
            graph.capture_begin(
                pool=self._pool, capture_error_mode="thread_local"
            )  # the next batch is made in a thread
            try:
                found = self.step(letters, labels)
            finally:
                graph.capture_end()
        except RuntimeError as error:
            self._off = True
            reason = str(error).splitlines()[0]
            warnings.warn(
                f"train: steps cannot be recorded and run one by one: {reason}",
                MirrormataWarning,
                stacklevel=2,
            )
            return None
        return _Recorded(graph, letters, labels, found)
