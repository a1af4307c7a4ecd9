"""Arguments of wrong types and values: every public entry refuses them with one line, and none leaks an exception of another kind."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

import mirrormata
import mirrormata.theory
from mirrormata import (
    Automaton,
    InputError,
    MirrormataError,
    automaton_from_spec,
    check,
    construct,
    full_certificate,
    inspect_automaton,
    plan,
    plot,
    prove,
    random_words,
    run,
)
from mirrormata.constructions import (
    Limits,
    Request,
    as_automaton,
    from_callable,
    from_networkx,
    from_permutation_group,
)
from mirrormata.foundation._arguments import (
    read_attribute,
    require_choice,
    require_count,
    require_flag,
    require_list,
    require_name,
    require_number,
    require_path,
    require_seconds,
    show_value,
)
from mirrormata.models import Sampling, Tolerances
from mirrormata.theory import horizons, random_stream, track, verify_claims


class BadPath:
    """A path that is none."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def __fspath__(self) -> Any:
        return self.given


class NoText:
    """An object that cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class NoAttributes:
    """An object that cannot be asked."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no attributes")


M: Any = mirrormata
T: Any = mirrormata.theory
"""Without their types, as a caller has them who gives what is wrong."""

STRANGE: list[Any] = [
    None, 5, -1, 1.5, True, float("nan"), b"x", "", "zz", [], [[]], {}, {"a": 3}, object(), NoText(), NoAttributes(), NoText,
    BadPath(b"x"), BadPath(5), np.array([1.5]), lambda *_: 1 // 0,
]  # fmt: skip
LRNN = construct("mod:3")
ROWS = {"a": {"x": "a"}}

ENTRIES: list[tuple[Callable[..., Any], dict[str, Any], tuple[str, ...]]] = [
    (construct, {"automaton": "mod:3"}, (
        "automaton", "exactness", "theorem", "max_layers", "max_householders", "max_dim", "coordinates", "max_degree",
        "max_group", "max_image_sets", "max_set_moves", "max_level_letters",
    )),
    (automaton_from_spec, {"spec": "mod:3"}, (
        "spec", "alphabet", "track", "start", "group", "product", "max_states", "max_transitions",
    )),
    (Automaton.from_transitions, {"transitions": ROWS, "start": "a"}, (
        "transitions", "start", "letters", "states", "accepting", "outputs", "mealy", "name", "track",
    )),
    (Automaton, {"states": (0,), "letters": (0,), "transitions": [[0]], "start": 0, "outputs": [0]}, (
        "states", "letters", "transitions", "start", "outputs", "name", "keeps_points",
    )),
    (as_automaton, {"value": ROWS}, ("value", "start", "letters")),
    (from_callable, {"function": lambda q, x: q, "start": 0, "letters": [0]}, (
        "function", "start", "letters", "outputs", "name", "track", "max_states",
    )),
    (from_networkx, {"graph": networkx.DiGraph()}, ("graph", "start", "letter", "name", "track")),
    (from_permutation_group, {"group": 5}, ("group", "letters", "start", "name")),
    (as_automaton("mod:3").word, {"word": "0"}, ("word",)),
    (as_automaton("mod:3").run, {"word": "0"}, ("word",)),
    (as_automaton("mod:3").after, {"word": "0"}, ("word",)),
    (as_automaton("mod:3").output, {"word": "0"}, ("word",)),
    (as_automaton("mod:3").accepts, {"word": "0"}, ("word",)),
    (as_automaton("mod:3").with_start, {"start": 0}, ("start",)),
    (inspect_automaton, {"automaton": "mod:3"}, ("automaton", "max_monoid", "max_bytes")),
    (plan, {"automaton": "mod:3"}, ("automaton", "request", "limits")),
    (run, {"model": LRNN, "words": [0]}, ("model", "words", "dtype", "start", "block", "sequential", "progress")),
    (track, {"stepper": 5, "automaton": "mod:3", "words": [0]}, ("stepper", "automaton", "words", "start", "progress")),
    (prove, {"model": LRNN, "automaton": "mod:3"}, (
        "model", "automaton", "arithmetic", "max_states", "max_seconds", "resume", "save_every", "method", "answers",
        "progress", "max_trial_letters",
    )),
    (check, {"certificate": LRNN}, ("certificate", "automaton")),
    (full_certificate, {"found": LRNN}, ("found", "max_group")),
    (horizons, {"lrnn": LRNN}, ("lrnn",)),
    (plot, {"x": "mod:3"}, ("x", "max_drawn")),
    (random_words, {"source": "mod:3", "sequences": 1, "length": 1, "seed": 0}, (
        "source", "sequences", "length", "seed",
    )),
    (random_stream, {"source": "mod:3", "sequences": 1, "length": 1, "seed": 0}, (
        "source", "sequences", "length", "seed",
    )),
    (verify_claims, {"entries": []}, ("entries", "effort", "budget", "jobs", "fail_fast", "done")),
    (Request, {}, ("exactness", "theorem", "max_layers", "max_householders", "max_dim", "coordinates")),
    (Limits, {}, ("degree", "group", "image_sets", "set_moves", "level_letters")),
    (Sampling, {}, ("words", "length", "fit", "seed")),
    (Tolerances, {}, ("subspace", "rank", "max_dim", "max_group", "max_degree", "max_steps", "max_states", "max_queries")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "usual", "argument"),
    [(function, usual, name) for function, usual, names in ENTRIES for name in names],
    ids=[f"{function.__name__}-{name}" for function, _, names in ENTRIES for name in names],
)
def test_no_argument_leaks_an_exception(
    function: Callable[..., Any], usual: dict[str, Any], argument: str
) -> None:
    """Whatever is given: it is right, or the error is one of the package's, in one line."""
    for strange in STRANGE:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function(**{**usual, argument: strange})
        except MirrormataError as error:
            leaked = "\n" in str(error)
        else:
            leaked = False
        assert not leaked, strange


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: M.construct("S3", max_layers="2"), "`max_layers` '2': it must be a positive whole number"),
        (lambda: M.construct("S3", max_degree=-1), "`max_degree` -1: it must be a positive whole number"),
        (lambda: M.construct("S3", max_householders=1.5), "`max_householders` 1.5: it must be a whole number, 0 or more"),
        (lambda: M.construct("S3", theorem=["G.T3"]), "`theorem` ['G.T3']: not a construction"),
        (lambda: M.automaton_from_spec("S3", track="foo"), "`track` foo: it is state or output"),
        (lambda: M.automaton_from_spec(None), "`spec` None: it is a SPEC"),
        (lambda: M.run(LRNN, [0], start="1"), "Automaton.state_index gives"),
        (lambda: M.run(LRNN, [0], block=0), "`block` 0: it must be a positive whole number"),
        (lambda: M.prove(LRNN, "mod:3", max_states=1.5), "`max_states` 1.5: it must be a positive whole number"),
        (lambda: M.prove(LRNN, "mod:3", progress=5), "`progress` 5: it is a function"),
        (lambda: M.prove(LRNN, "mod:3", save_every="q"), "`save_every` 'q': it is a number of seconds"),
        (lambda: M.plot("S3", max_drawn="5"), "`max_drawn` '5': it must be a positive whole number"),
        (lambda: M.plot("S3", 5), "`path` 5: it is the path of an .svg or .png file, or None"),
        (lambda: M.random_words("parity", True, 5, 0), "`sequences` True: it must be a whole number"),
        (lambda: M.random_words("parity", 2, 5, None), "`seed` None: it must be a whole number"),
        (lambda: M.compare(LRNN, extract="exact"), "`extract` 'exact': it is a list of ways"),
        (lambda: M.compare(LRNN, extract=("foo",)), "`extract` foo: it is exact, kv, lstar or clusters"),
        (lambda: M.compare(LRNN, dtype="foo"), "dtype 'foo': not a format"),
        (lambda: M.compare(LRNN, sampling={"words": 3}), "`sampling` is of the type dict: give a Sampling"),
        (lambda: T.verify_claims("G.T3"), "`entries` 'G.T3': it is a list of claims"),
        (lambda: T.verify_claims(["G.T33"]), "claim 'G.T33': there is none of this name"),
        (lambda: as_automaton({"a": {"x": ["l"]}}), "`automaton` has sets of next states, which only an acceptor can have"),
        (lambda: as_automaton({"transitions": ROWS, "start": ["a"]}), "start state ['a'] is not hashable"),
        (lambda: as_automaton({"transitions": ROWS, "accepting": [["a"]]}), "accepting state ['a'] is not hashable"),
        (lambda: as_automaton({"transitions": ROWS, "mealy": {"a": 3}}), "`mealy`: 3 stands for the state 'a'"),
        (lambda: as_automaton({"transitions": ROWS, "name": 7}), "`name` 7: it is a text on one line"),
        (lambda: as_automaton({"transitions": ROWS, "name": "a\nb"}), "it is a text on one line"),
        (lambda: as_automaton({"transitions": ROWS, "keep_points": "no"}), "`keep_points` 'no': it is True or False"),
        (lambda: M.Automaton.from_transitions([1, 2], start="a"), "`transitions` [1, 2]: it is a dict"),
        (lambda: from_callable(lambda q, x: 1 // 0, "s", "a"), "from state 's' by letter 'a' the function raises ZeroDivision"),
        (lambda: M.construct(networkx.DiGraph([(0, 1)])), "set graph.graph['start'], or give from_networkx(graph, start)"),
        (lambda: M.construct(BadPath(5)), "gives no path (TypeError)"),
    ],
)  # fmt: skip
def test_the_error_names_the_argument_and_what_it_must_be(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(InputError) as refusal:
        call()
    assert text in str(refusal.value)


def test_the_cause_of_a_failure_in_the_callers_code_is_kept() -> None:
    with pytest.raises(InputError) as refusal:
        from_callable(lambda q, x: 1 // 0, 0, [1])
    assert isinstance(refusal.value.__cause__, ZeroDivisionError)


def test_what_is_right_is_taken(tmp_path: Path) -> None:
    as_automaton(ROWS).save(tmp_path / "a.json")
    assert automaton_from_spec(tmp_path / "a.json").states == ("a",)
    assert M.random_words("parity", np.int64(2), np.int32(3), np.uint8(1)).shape == (2, 3)
    assert from_networkx(networkx.DiGraph([(0, 0, {"letter": "x"})]), 0).letters == ("x",)
    assert [outcome.claim.id for outcome in verify_claims(["G.P1.1"], jobs=1)] == ["G.P1.1"]


def test_a_certificate_is_no_automaton(tmp_path: Path) -> None:
    """The same error for a certificate as data and for its file; the fix that it names works."""
    document = full_certificate(LRNN)
    mirrormata.write_certificate(document, tmp_path / "c.json")
    for given in (document, str(tmp_path / "c.json"), tmp_path / "c.json"):
        for function in (as_automaton, construct, lambda x: random_words(x, 1, 1, 0)):
            with pytest.raises(InputError, match="is a certificate, and an automaton is wanted"):
                function(given)
    for given in (document, str(tmp_path / "c.json"), tmp_path / "c.json"):
        found = mirrormata.constructions.realisation_from_certificate(given)
        assert found.automaton.letters == LRNN.automaton.letters
    with pytest.raises(InputError, match="no such file"):
        mirrormata.constructions.realisation_from_certificate(str(tmp_path / "absent.json"))
    with pytest.raises(InputError, match="`document` 5"):
        mirrormata.constructions.realisation_from_certificate(5)  # type: ignore[arg-type]


def test_the_requirements_themselves() -> None:
    assert require_count("n", np.int64(3)) == 3
    assert require_flag("f", np.bool_(True)) is True
    assert require_seconds("s", 0) == 0
    assert require_number("x", 2.5) == 2.5
    assert require_choice("c", "a", ("a", "b")) == "a"
    assert require_list("l", (1, 2), "a list") == [1, 2]
    assert require_name("n", "") == ""
    assert require_path("p", Path("a")) == "a"
    assert read_attribute(NoAttributes(), "x") is None
    assert show_value(NoText()) == "of the type NoText"
    assert len(show_value("\n" * 100)) <= 80
    assert "\n" not in show_value("\n" * 100)
    with pytest.raises(InputError, match="`n` 9: it must be a whole number from 0 to 5"):
        require_count("n", 9, 0, 5)
    for text in ("a\nb", "a\n", "\u2028", "a\r"):
        with pytest.raises(InputError, match="a text on one line"):
            require_name("n", text)
