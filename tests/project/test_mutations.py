"""The list of mutations of the trusted base: each still applies, and the last run of all of them found none that survives."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirrormata.tests.mutations.areas import AREAS
from mirrormata.tests.mutations.record import ROOT, VERIFY, Mutation, NotFound
from mirrormata.tests.mutations.run import Workplace, counted, read_results

ALL = [mutation for mutations in AREAS.values() for mutation in mutations]


@pytest.mark.parametrize("mutation", ALL, ids=lambda m: m.name)
def test_the_text_is_there_once(mutation: Mutation) -> None:
    file, at = mutation.place()
    text = file.read_text(encoding="utf-8")
    assert text[at:].startswith(mutation.old)
    assert mutation.new != mutation.old
    compile(text[:at] + mutation.new + text[at + len(mutation.old) :], str(file), "exec")
    if mutation.noticed_by != VERIFY:
        test = mutation.noticed_by.partition("::")
        assert f"def {test[2]}(" in (ROOT / test[0]).read_text(encoding="utf-8")


def test_there_are_enough_in_each_area() -> None:
    assert len({mutation.name for mutation in ALL}) == len(ALL) >= 70
    assert min(len(mutations) for mutations in AREAS.values()) >= 8


def test_the_last_run_was_of_this_list_and_nothing_survived() -> None:
    results = read_results()
    assert [(r.area, r.target, r.old, r.new) for r in results] == [
        (area, m.target, m.old, m.new) for area, mutations in AREAS.items() for m in mutations
    ], "the list has changed: run `make mutate`"
    assert not [f"{r.target}: {r.old}" for r in results if r.survived]
    for area, count, by_verify, *_ in counted(results):
        assert by_verify >= count * (0.75 if area == "all" else 0.5), area
    for result, mutation in zip(results, ALL, strict=True):
        assert not (mutation.equivalent_because and result.noticed_by != "nothing"), "it is not equivalent"
        assert result.equivalent_because == mutation.equivalent_because


def test_a_function_that_moved_is_found_and_one_that_is_gone_is_an_error(tmp_path: Path) -> None:
    source = "class A:\n    def f(self):\n        return 1 < 2\n\n\ndef f():\n    return 1 < 2\n"
    (tmp_path / "theory" / "deep").mkdir(parents=True)
    (tmp_path / "theory" / "deep" / "new.py").write_text(source)
    moved = Mutation("theory.old:A.f", "1 < 2", "1 <= 2", "it is not strict")
    file = moved.apply(tmp_path)
    assert file.read_text() == source.replace("1 < 2", "1 <= 2", 1)
    with pytest.raises(NotFound, match="0 places"):
        moved.place(tmp_path)
    (tmp_path / "theory" / "other.py").write_text(source)
    Mutation("theory.other:f", "1 < 2", "1 <= 2", "it is not strict").apply(tmp_path)
    assert (tmp_path / "theory" / "other.py").read_text().endswith("def f():\n    return 1 <= 2\n")
    twice = Mutation("theory.other:A", "return", "yield", "it yields")
    (tmp_path / "theory" / "other.py").write_text(source.replace("return 1", "return 0 or 1 # return"))
    with pytest.raises(NotFound, match="2 places"):
        twice.place(tmp_path)


def test_a_mutation_is_made_in_a_copy_and_taken_back(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    mutation = next(m for m in AREAS["arithmetic"] if m.old == "Fraction(448)")
    file, _ = mutation.place(place.package)
    before = file.read_text(encoding="utf-8")
    found = place.notices("arithmetic", mutation)
    assert found.noticed_by == VERIFY
    assert found.how.startswith("base.arithmetic: an exact number, per_step:fp8_e4m3")
    assert file.read_text(encoding="utf-8") == before
    assert mutation.place()[0].is_relative_to(ROOT)
