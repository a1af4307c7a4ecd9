"""`Tile`: how a Triton kernel is launched."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tile:
    """One kernel's launch: block width (value columns or key rows), warps, pipeline stages, most registers a thread."""

    width: int
    warps: int
    stages: int = 2
    registers: int | None = None

    def options(self) -> dict[str, int]:
        """Launch options."""
        options = {"num_warps": self.warps, "num_stages": self.stages}
        return options if self.registers is None else options | {"maxnreg": self.registers}
