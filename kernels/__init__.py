"""The operators' fast paths and their readable references; loaded on first use, so that importing this is fast."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backends import BackendUnavailableError as BackendUnavailableError
    from .backends import KernelError as KernelError
    from .backends import KernelInputError as KernelInputError
    from .backends import launch_counts as launch_counts
    from .backends import reset_launch_counts as reset_launch_counts
    from .backends import triton_available as triton_available
    from .convolution.short import short_convolution as short_convolution
    from .delta.front import delta_product as delta_product
    from .norms.l2 import l2_normalise as l2_normalise
    from .norms.rms import rms_normalise as rms_normalise
    from .scans.diagonal import diagonal_scan as diagonal_scan
    from .scans.rank_one import rank_one_scan as rank_one_scan
    from .scans.selective import selective_scan as selective_scan

_HOME = {
    "BackendUnavailableError": ".backends",
    "KernelError": ".backends",
    "KernelInputError": ".backends",
    "delta_product": ".delta.front",
    "diagonal_scan": ".scans.diagonal",
    "l2_normalise": ".norms.l2",
    "launch_counts": ".backends",
    "rank_one_scan": ".scans.rank_one",
    "reset_launch_counts": ".backends",
    "rms_normalise": ".norms.rms",
    "selective_scan": ".scans.selective",
    "short_convolution": ".convolution.short",
    "triton_available": ".backends",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
