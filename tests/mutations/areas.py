"""All mutations, by area."""

from __future__ import annotations

from . import arithmetic, blocks, bounds, chains, checkers, decays, impossibility, kernel_plans, proofs
from .record import Mutation

AREAS: dict[str, list[Mutation]] = {
    "arithmetic": arithmetic.MUTATIONS,
    "checkers": checkers.MUTATIONS,
    "proofs": proofs.MUTATIONS,
    "impossibility": impossibility.MUTATIONS,
    "bounds": bounds.MUTATIONS,
    "kernel plans": kernel_plans.MUTATIONS,
    "chains": chains.MUTATIONS,
    "decays": decays.MUTATIONS,
    "blocks": blocks.MUTATIONS,
}
