"""Kind `decay`: a `DecayRNN`, one number that decays and is rounded at each token."""

from __future__ import annotations

from .._realisation import Kind
from ..certificates._decay import decay_certificate, decay_from_certificate
from ..decays._decay import DecayRNN


def _show(form: DecayRNN, max_letters: int) -> str:
    from ..texts._show_decay import show_decay

    return show_decay(form, max_letters=max_letters)


KIND = Kind(
    kind="decay",
    noun="a decaying number",
    write=decay_certificate,
    read=decay_from_certificate,
    show=_show,
)
