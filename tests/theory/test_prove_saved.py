"""A saved search goes on with the model of which it is one, and what its file says is found anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.foundation._errors import DisagreementError, InputError
from mirrormata.tests.theory.prove_models import Counter, turns, with_outputs
from mirrormata.theory.proofs import _state_search_file as state_search_file
from mirrormata.theory.proofs._npz_model import NpzModel
from mirrormata.theory.proofs._prove import prove


def test_a_saved_search_is_of_one_model(tmp_path: Path) -> None:
    """Another read-out, other weights behind the first step, other factors, labels, arithmetic: each is refused."""
    path, mod4 = tmp_path / "s.npz", automaton_from_spec("mod:4")
    good = turns(4, [0, 1, 2, 3])

    def begin(model: Any, arithmetic: str = "per_op:bf16", automaton: Automaton = mod4) -> Any:
        return prove(
            model,
            automaton,
            arithmetic,
            method="states",
            resume=path,
            max_states=3 if not path.exists() else 99,
        )

    assert begin(good).verdict == "unknown"
    later = turns(4, [0, 1, 2, 3])
    later.A[1, 3, 2] = 2.0
    for other in (turns(4, [0, 2, 1, 3]), later, replace(good, outputs=("0", "1", "3", "2"))):
        with pytest.raises(InputError, match="another model, automaton or arithmetic"):
            begin(other)
    with pytest.raises(InputError, match="another model"):
        begin(good, "per_op:fp16")
    with pytest.raises(InputError, match="another model"):
        begin(good, automaton=with_outputs(mod4, ["0", "1", "2", "4"]))
    found = begin(good)
    assert (found.verdict, found.checked) == ("equivalent", "certificate")
    assert found.to_json()["identity"] == prove(good, mod4, "per_op:bf16").to_json()["identity"]


def forged(path: Path, **changes: Any) -> None:
    """The saved search with other entries, and a digest of its content that fits them."""
    with np.load(path) as file:
        content = {**file, **{key: np.asarray(value) for key, value in changes.items()}}
    del content["content"]
    np.savez(path, content=np.array(state_search_file._content_digest(content)), **content)


def test_a_saved_search_that_was_damaged(tmp_path: Path) -> None:
    path, mod4 = tmp_path / "s.npz", automaton_from_spec("mod:4")
    model = turns(4, [0, 1, 2, 3])
    prove(model, mod4, "per_op:bf16", method="states", resume=path, max_states=3)
    with np.load(path) as file:
        saved = dict(file)
    for key in ("place", "parents", "letters", "words", "start_is_read"):
        np.savez(path, **{**saved, key: saved[key] + 1 if key != "start_is_read" else ~saved[key]})
        with pytest.raises(InputError, match="a damaged search"):
            prove(model, mod4, "per_op:bf16", method="states", resume=path)
    np.savez(path, **{**saved, "format": np.array("mirrormata-search/1")})
    with pytest.raises(InputError, match=r"saved by version 0\.1"):
        prove(model, mod4, "per_op:bf16", method="states", resume=path)


def test_a_saved_search_that_was_forged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a file says is not believed: pairs, answers and lengths are found anew, and what it leaves out is noticed."""
    path, mod4 = tmp_path / "s.npz", automaton_from_spec("mod:4")
    model = turns(4, [0, 1, 2, 3])

    def begin(arithmetic: str, of: NpzModel = model) -> dict[str, Any]:
        path.unlink(missing_ok=True)
        assert prove(of, mod4, arithmetic, method="states", resume=path, max_states=3).verdict == "unknown"
        with np.load(path) as file:
            return dict(file)

    for arithmetic in ("exact", "per_op:bf16"):
        saved = begin(arithmetic)
        count, _, _, _, steps = saved["place"].tolist()
        changed = saved["words"].copy()
        changed[1, 0] ^= 1
        for key, value in (
            ("parents", saved["parents"] + 7), ("letters", saved["letters"] + 9), ("words", changed),
            ("place", [count, 0, 1, 10**9, steps]), ("place", [count, 2, 2, 2, steps]),
        ):  # fmt: skip
            if arithmetic == "exact" and key == "words":
                continue  # its numbers are those of another run, and not read
            forged(path, **{key: value})
            with pytest.raises(InputError, match="a damaged search"):
                prove(model, mod4, arithmetic, method="states", resume=path)
            np.savez(path, **saved)
        longest = count - 1  # all pairs are on one path
        forged(path, place=[count, count, count, longest, steps])
        with pytest.raises(DisagreementError, match="the checker refuses the certificate"):
            prove(model, mod4, arithmetic, method="states", resume=path)
        with monkeypatch.context() as patched:
            patched.setattr("mirrormata.theory.proofs._certificate.MAX_STEPS", 0)
            with pytest.raises(
                DisagreementError, match=r"more states than were found|none that the search has found"
            ):
                prove(model, mod4, arithmetic, method="states", resume=path)


def test_answers_of_a_saved_search_are_looked_at(tmp_path: Path) -> None:
    """A file with a wrong answer marked as followed, as if it had been right."""
    path, mod4 = tmp_path / "s.npz", automaton_from_spec("mod:4")
    right, wrong = turns(4, [0, 1, 2, 3]), turns(4, [0, 1, 3, 2])
    assert prove(wrong, mod4, "per_op:bf16", method="states").word == (1, 1)
    for model in (wrong, right):  # the digest is that of the wrong one, the pairs are those of both
        prove(
            model,
            mod4,
            "per_op:bf16",
            method="states",
            resume=tmp_path / f"{model is wrong}.npz",
            max_states=2,
        )
    prove(right, mod4, "per_op:bf16", method="states", resume=path, max_states=4)
    with np.load(tmp_path / "True.npz") as file:
        digest = str(file["search"])
    forged(path, search=digest)
    with pytest.raises(InputError, match="a damaged search"):
        prove(wrong, mod4, "per_op:bf16", method="states", resume=path)


@pytest.mark.parametrize("spec", ["S4", "mod_arith:3"])
def test_exact_searches_go_on_in_numbers_of_their_own(spec: str, tmp_path: Path) -> None:
    """A state of exact numbers is its number in a run, so a saved search is numbered again."""
    path, lrnn = tmp_path / "s.npz", construct(spec)
    assert (
        prove(lrnn, lrnn.automaton, "exact", method="states", resume=path, max_states=17).verdict == "unknown"
    )
    whole = prove(lrnn, lrnn.automaton, "exact", method="states")
    again = prove(lrnn, lrnn.automaton, "exact", method="states", resume=path)
    assert (again.verdict, again.checked) == (whole.verdict, whole.checked) == ("equivalent", "re-stepped")
    assert again.states_explored == whole.states_explored


def test_a_stepper_without_identity_is_not_resumed(tmp_path: Path) -> None:
    counter = Counter(3, 299, 0)
    del counter.identity
    with pytest.raises(InputError, match="a text `identity`"):
        prove(counter, automaton_from_spec("mod:3"), "int16", resume=tmp_path / "s.npz")
    assert prove(counter, automaton_from_spec("mod:3"), "int16").to_json()["identity"] is None
