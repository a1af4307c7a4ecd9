"""All mutations, by area."""

from __future__ import annotations

from . import arithmetic
from .record import Mutation

AREAS: dict[str, list[Mutation]] = {
    "arithmetic": arithmetic.MUTATIONS,
}
