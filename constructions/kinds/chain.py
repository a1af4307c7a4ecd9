"""Kind `chain`: a `ChainRNN`, whose letters are computed from the sets of a chain before and after the token."""

from __future__ import annotations

from .._realisation import Kind
from ..certificates._chain import chain_certificate, chain_from_certificate
from ..chains._chain import ChainRNN


def _show(form: ChainRNN, max_letters: int) -> str:
    from ..texts._show import show_chain

    return show_chain(form, max_letters=max_letters)


KIND = Kind(
    kind="chain",
    noun="a chain of sets",
    write=chain_certificate,
    read=chain_from_certificate,
    show=_show,
)
