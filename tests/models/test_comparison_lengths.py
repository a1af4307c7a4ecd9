"""From how many letters `compare` takes its class means: by default, with short words, and where heads drift."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import InputError
from mirrormata.models.comparison._compare import compare
from mirrormata.models.comparison._sources import learned_from_lrnn, learned_from_matrices
from mirrormata.models.comparison._states import FIT, Sampling
from mirrormata.models.learned._learned import Learned
from mirrormata.tests.cli.command_line import Outcome


def drifting(spec: str, share: float) -> Learned:
    """The construction with every A - I larger by this share, so that states grow at every reflection."""
    lrnn = construct(automaton_from_spec(spec))
    assert isinstance(lrnn, LRNN)
    (head,) = learned_from_lrnn(lrnn).heads
    A = head.A + share * (head.A - np.eye(head.dim))
    return learned_from_matrices(A, lrnn.automaton, H0=head.H0)


def test_heads_that_drift_are_found_from_fewer_letters() -> None:
    sampling = Sampling(words=64, length=128)
    c = compare(drifting("S3", 0.06), "S3", sampling=sampling, extract=())
    assert c.heads[0].carries_states
    used = c.trace.sampling.averaged
    assert 4 <= used < FIT
    (note,) = (n for n in c.notes if "first 64 letters" in n)
    assert note.endswith(f"all means are those over the first {used} letters, where heads were found")
    assert c.to_json()["sampling"]["fit"] == used
    given = compare(drifting("S3", 0.06), "S3", sampling=Sampling(64, 128, used), extract=())
    assert given.to_json()["horizon"] == c.to_json()["horizon"]
    assert not any("no head tells" in n for n in given.notes)


@pytest.mark.parametrize(("fit", "said"), [(64, "64, 32, 16, 8 or 4 letters"), (5, "5 letters")])
def test_where_no_length_finds_a_head_all_that_were_tried_are_named(fit: int, said: str) -> None:
    parity = automaton_from_spec("parity")
    still = learned_from_matrices(np.eye(2)[None].repeat(2, 0), parity, H0=np.ones((2, 1)))
    c = compare(still, sampling=Sampling(8, 64, fit), extract=())
    assert c.trace.sampling.averaged == fit
    (note,) = (n for n in c.notes if "no head tells" in n)
    hint = "" if said.endswith("or 4 letters") else "; fewer letters may find heads"
    assert note == f"no head tells states apart by their means over the first {said}{hint}"


def test_the_default_is_no_longer_than_the_words(call: Callable[..., Outcome]) -> None:
    assert Sampling(length=32).averaged == 32
    assert Sampling().averaged == FIT
    said = call(
        "compare", "parity", "parity", "--words", "4", "--length", "32", "--extract", "none", "--json"
    )
    assert said.json["sampling"] == {"words": 4, "length": 32, "fit": 32, "seed": 0}
    said = call("compare", "parity", "parity", "--words", "1", "--length", "1", "--extract", "none")
    assert "on 1 random word of 1 letter," in said.out
    with pytest.raises(InputError, match="`fit` 33: it is at most `length`, 32"):
        Sampling(length=32, fit=33)
    assert "--fit 33" in call("compare", "parity", "parity", "--length", "32", "--fit", "33").error
