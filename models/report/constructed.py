"""`constructed_sections`: what a report shows of an exact construction, from its automaton to what rounding does to it."""

from __future__ import annotations

from pathlib import Path

from ...constructions._lrnn import as_table
from ...constructions._realisation import Realisation
from .constructed_automaton import automaton_section
from .constructed_certificate import certificate_section
from .constructed_claims import claims_section
from .constructed_delay import delay_sections
from .constructed_mirrors import mirrors_section
from .constructed_rounding import certified_horizons, rounding_section
from .constructed_spectra import spectra_section
from .limits import RandomRuns, ShownLimits
from .parts import Section


def constructed_sections(
    found: Realisation,
    *,
    certificate: Path | None = None,
    runs: RandomRuns | None = None,
    limits: ShownLimits | None = None,
) -> tuple[Section, ...]:
    """Automaton, letters, certificate, claims, and for an `LRNN` spectra; what rounding does on random words.

    `certificate`: a file that is checked now and compared with the construction; without one a certificate is made.
    `runs`: the random words and the dtypes. `limits`: how much is shown; what is left out is said.
    A wrong certificate is shown as invalid; a file that cannot be read is an `InputError`.
    """
    runs, limits = runs or RandomRuns(), limits or ShownLimits()
    automaton = automaton_section(found.automaton, limits)
    if (table := as_table(found)) is None:
        layers, rounding = delay_sections(found, runs)
        proof = certificate_section(found, certificate, None)
        return automaton, layers, proof, claims_section(found, limits), rounding
    lengths = certified_horizons(table, limits)
    return (
        automaton,
        mirrors_section(table, limits),
        certificate_section(table, certificate, lengths),
        claims_section(table, limits),
        spectra_section(table, limits),
        rounding_section(table, lengths, runs, limits),
    )
