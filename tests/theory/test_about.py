"""`check --for`: whether a certificate is about an automaton, for every kind, and a shortest word where it is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.constructions.automata._labels import label_text
from mirrormata.foundation._errors import InputError
from mirrormata.models._sources import prove
from mirrormata.models.comparison._compare import compare
from mirrormata.models.comparison._sources import learned_from_lrnn, load_learned
from mirrormata.models.comparison._states import Sampling, follow_words
from mirrormata.tests.constructions.tables import construct_table
from mirrormata.theory._check import check
from mirrormata.theory._horizon import full_certificate

from ..cli.command_line import Outcome

Call = Callable[..., Outcome]
OLD = Path(__file__).parents[1] / "data" / "certificates-0.1"
ABOUT = {
    "table": "parity",
    "table_layers": "mod:4",
    "table_cascade": "tomita:4",
    "horizon": "mod:5",
    "horizon_layers": "mod:12",
    "delay": "S3",
    "bound": "S3",
    "equivalent_codes": "parity",
    "equivalent_states": "mod:5",
    "equivalent_regions": "flipflop",
    "equivalent_regions_exact": "flipflop",
    "impossible": "parity",
    "impossible_cast": "parity",
    "impossible_parity": "parity",
}


@pytest.mark.parametrize("name", ABOUT)
def test_every_kind_is_about_its_own_automaton_and_no_other(name: str) -> None:
    file = OLD / f"{name}.json"
    assert check(file).verdict == "valid"
    own = check(file, automaton_from_spec(ABOUT[name]))
    assert (own.verdict, own.automaton, own.word) == ("valid", ABOUT[name], None), own.reason
    for spec in set(ABOUT.values()) - {ABOUT[name]}:
        other = check(file, automaton_from_spec(spec))
        assert other.verdict == "other", spec
        assert other.reason.startswith(f"valid, but not about {spec}: ")


CHAINS = {"T3": "own.chain", "tomita:4": "own.window"}


@pytest.mark.parametrize("spec", CHAINS)
def test_a_chain_is_about_its_own_automaton_and_no_other(spec: str) -> None:
    """With another start, output or transition it is a valid certificate still, of another automaton."""
    document = full_certificate(construct(spec, theorem=CHAINS[spec]))
    own = check(document, automaton_from_spec(spec))
    assert (own.verdict, own.automaton, own.word) == ("valid", spec, None), own.reason
    for other in (*set(CHAINS) - {spec}, "parity", "S3"):
        assert check(document, automaton_from_spec(other)).verdict == "other"
    seen = set()
    for seed in range(30):
        automaton = changed(spec, seed)
        if not np.array_equal(automaton.transitions, automaton_from_spec(spec).transitions):
            seen.add(check(document, automaton).verdict)
            seen.add(
                check(
                    full_certificate(construct(automaton, theorem="own.chain")), automaton_from_spec(spec)
                ).verdict
            )
    assert seen == {"other"}


def test_all_kinds_are_kept() -> None:
    assert {file.stem for file in OLD.glob("*.json")} == set(ABOUT)


def test_names_of_states_and_the_order_of_letters_do_not_matter() -> None:
    parity = automaton_from_spec("parity")
    renamed = Automaton(
        ("one", "two"), tuple(reversed(parity.letters)), np.ascontiguousarray(parity.transitions[::-1, ::-1]) * -1 + 1,
        1, object_array(reversed(parity.outputs)), "turned",
    )  # fmt: skip
    assert check(OLD / "table.json", renamed).verdict == "valid"


def test_a_bound_is_about_named_states() -> None:
    s3 = automaton_from_spec("S3")
    assert check(OLD / "bound.json", replace(s3, states=tuple("abcdef"))).verdict == "other"
    table = s3.transitions.copy()
    table[1] = table[2]
    found = check(OLD / "bound.json", replace(s3, transitions=table))
    assert (found.verdict, found.word) == ("other", ("(0, 2, 1)",)), found.reason


def changed(spec: str, seed: int) -> Automaton:
    """The automaton with one transition or one output changed."""
    base = automaton_from_spec(spec)
    draw = np.random.default_rng(seed)
    if seed % 2:
        table = base.transitions.copy()
        x, q = draw.integers(table.shape[0]), draw.integers(table.shape[1])
        table[x, q] = (table[x, q] + 1) % len(base.states)
        return replace(base, transitions=table, keeps_points=True)
    outputs = base.outputs.copy()
    q = draw.integers(len(outputs))
    outputs[q] = outputs[(q + 1) % len(outputs)]
    return replace(base, outputs=outputs)


@pytest.mark.parametrize("seed", range(12))
def test_the_word_is_a_shortest_one(seed: int) -> None:
    """Outputs after all words up to a length, by brute force."""
    base, other = automaton_from_spec("mod:5"), changed("mod:5", seed)
    found = check(OLD / "horizon.json", other)
    assert found.verdict == "other"
    assert found.word is not None

    def answer(automaton: Automaton, word: tuple[Any, ...]) -> str:
        q = automaton.start
        for x in word:
            q = int(automaton.transitions[x, q])
        return str(automaton.outputs[q])

    wrong = [
        word
        for length in range(6)
        for word in product(range(len(base.letters)), repeat=length)
        if answer(base, word) != answer(other, word)
    ]
    shortest = min(len(word) for word in wrong)
    assert len(found.word) == shortest
    texts = [label_text(x) for x in base.letters]
    assert tuple(texts.index(x) for x in found.word) in wrong


def test_the_same_answers_by_fewer_states_is_another_automaton() -> None:
    """No output differs; two words lead to one state here and to two there."""
    mod4 = automaton_from_spec("mod:4")
    outputs = object_array(str(q % 2) for q in range(4))
    document = full_certificate(construct("parity"))
    found = check(document, replace(mod4, outputs=outputs))
    assert (found.verdict, found.word) == ("other", ("1", "1"))
    assert "lead to one state" in found.reason
    # what the message advises works
    assert "no word is answered differently" in found.reason
    for arithmetic in ("exact", "per_step:bf16"):
        assert prove(document, replace(mod4, outputs=outputs), arithmetic).verdict == "equivalent"


def test_prove_is_advised_only_where_it_compares_answers() -> None:
    """States of the same names are compared as states, and then two of them are not one."""
    mod4 = automaton_from_spec("mod:4")
    same = replace(mod4, outputs=object_array(str(q % 2) for q in range(4)))
    parity = replace(automaton_from_spec("parity"), states=same.states[:2])
    # 0 and 1 reach two of the four states; in the other one they are all
    document = full_certificate(construct(same))
    advised = check(document, parity)
    assert advised.verdict == "other"
    assert ("no word is answered differently" in advised.reason) == bool(prove(document, parity, "exact"))
    # outputs on letters do not follow from states
    mealy = replace(parity, outputs=parity.outputs[parity.transitions])
    assert "prove" not in check(document, mealy).reason


def test_outputs_on_letters_and_of_states_differ() -> None:
    parity = automaton_from_spec("parity")
    after = parity.outputs[parity.transitions]
    found = check(OLD / "table.json", replace(parity, outputs=after))
    assert found.verdict == "other"
    assert "outputs on letters" in found.reason


def test_an_automaton_whose_labels_have_one_text_is_refused() -> None:
    """The letters 0 and '0' are two, and only one of them stands in the certificate."""
    plain = construct(Automaton.from_transitions({"q": {"0": "q"}}, start="q"))
    twins = Automaton.from_transitions({"q": {"0": "q", 0: "r"}, "r": {0: "r", "0": "q"}}, start="q")
    with pytest.raises(InputError, match="the letters '0' and 0 have the same text '0'"):
        check(full_certificate(plain), twins)
    s3 = automaton_from_spec("S3")
    states = (1, "1", *s3.states[2:])
    with pytest.raises(InputError, match="the states 1 and '1' have the same text '1'"):
        check(OLD / "bound.json", replace(s3, states=states))


def test_an_invalid_certificate_is_invalid_whatever_it_is_about() -> None:
    document = json.loads((OLD / "table.json").read_text())
    document["automaton"]["transitions"][1][0] = 0
    found = check(document, automaton_from_spec("parity"))
    assert (found.verdict, found.automaton) == ("invalid", "parity")


def test_command_line(call: Call) -> None:
    file = str(OLD / "horizon.json")
    done = call("check", file, "--for", "mod:5")
    assert done.status == 0
    assert any(line.startswith("about mod:5") for line in done.out.splitlines())
    done = call("check", file, "--for", "parity", "--json")
    assert done.status == 1
    said = json.loads(done.out)
    assert (said["verdict"], said["automaton"], said["word"]) == ("other", "parity", ["1", "1"])
    done = call("check", file, "--for", "S3")
    assert (done.status, done.out[:6]) == (1, "other:")
    done = call("check", file, "--for", "no such automaton")
    assert done.status == 2
    assert set(json.loads(call("check", file, "--json").out)) == {"verdict", "kind", "reason", "checker"}


def test_compare_measures_a_certificate_against_the_automaton_beside_it(call: Call) -> None:
    """A counter modulo 5 is no parity: its answers are right as often as the two agree."""
    file = str(OLD / "horizon.json")
    parity = automaton_from_spec("parity")
    learned = load_learned(file, parity)
    assert learned.target.automaton is parity
    trace = follow_words(learned, Sampling(64, 32, 16, 0))
    assert trace.observed == 2  # 1 1 is the first that the two answer differently
    done = call(
        "compare",
        file,
        "parity",
        "--extract",
        "none",
        "--words",
        "64",
        "--length",
        "32",
        "--fit",
        "16",
        "--json",
    )
    assert done.status == 0
    assert 0 < json.loads(done.out)["accuracy"] < 0.5
    done = call(
        "compare",
        file,
        "mod:5",
        "--extract",
        "none",
        "--words",
        "64",
        "--length",
        "32",
        "--fit",
        "16",
        "--json",
    )
    assert json.loads(done.out)["accuracy"] == 1


def test_compare_refuses_what_has_no_answer_or_letter_in_common(call: Call) -> None:
    done = call("compare", str(OLD / "horizon.json"), "S3")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "letters" in done.err
    named = replace(
        automaton_from_spec("parity"), outputs=object_array(["even", "odd"]), states=("even", "odd")
    )
    with pytest.raises(InputError, match="none of its answers"):
        load_learned(str(OLD / "horizon.json"), named)


def test_compare_refuses_a_construction_of_another_automaton() -> None:
    with pytest.raises(InputError, match="held against"):
        compare(learned_from_lrnn(construct_table("mod:5", "DP.T4")), construct("parity"))
