"""Why words fail: what all failures have in common, and the likely cause of each family's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...foundation._text import count_noun
from ._calling import GATES
from ._causes import known_errors
from ._compare import Asked, Asking, agrees, expected, fits
from ._families import Family
from ._recurrence import RIGHT, Rule

MOST = 0.9
"""The part of the words that a known error must give for it to explain all failures."""
NEARLY_ALL = 0.75
"""The part of the families that fail where one cause is looked for, and none is guessed by family."""


@dataclass
class Diagnosis:
    """What explains the failures.

    Attributes:
        asking: the function.
        asked: the words that were run, by family.
        overall: what explains them all, or most of them, in a sentence; empty if nothing does.
        rule: the known error that does.
        cause: what to say in place of a family's own cause; empty: that one.
    """

    asking: Asking
    asked: dict[str, list[Asked]]
    overall: str = ""
    rule: Rule | None = None
    cause: str = ""
    explained: dict[str, list[Rule]] = field(default_factory=dict)
    _known: dict[tuple[str, str], bool] = field(default_factory=dict)

    def of_family(self, family: Family) -> tuple[str, bool]:
        """The likely cause of a family's failures, and whether it is a known error that gives them.

        Args:
            family: a family with a word that fails.
        """
        failed = [a for a in self.asked[family.name] if a.fails]
        returned = [a.found.returned for a in failed if a.found.returned]
        if returned:
            return returned[0], False
        if all(a.found.error for a in failed):
            return (self.cause or f"it raises an error; {family.cause}"), False
        rules = self.explained.get(family.name, [])
        if rules:
            rule = self.rule if self.rule in rules else self._most_likely(rules)
            assert rule is not None
            return rule.cause + _half(self.asked[family.name]), True
        if self.rule is not None:
            return self.rule.cause, False
        return (self.cause or family.cause) + _half(self.asked[family.name]), False

    def _most_likely(self, rules: list[Rule]) -> Rule:
        """Of known errors that explain a family, the one that explains most of the others; the first of equals."""
        if len(rules) == 1:
            return rules[0]

        def explains(rule: Rule, name: str) -> bool:
            if name in self.explained:
                return rule in self.explained[name]
            known = (rule.cause, name)
            if known not in self._known:
                self._known[known] = all(
                    agrees(self.asking.contract, a, rule) for a in self.asked[name] if not a.found.error
                )
            return self._known[known]

        return max(rules, key=lambda rule: sum(explains(rule, name) for name in self.asked))


def diagnose(asking: Asking, asked: dict[str, list[Asked]]) -> Diagnosis:
    """Find what explains the failures of a function.

    Args:
        asking: the function.
        asked: the words that were run, by family.
    """
    found = Diagnosis(asking, asked)
    ran = [a for words in asked.values() for a in words]
    failed = [a for a in ran if a.fails]
    if not failed:
        return found
    found.overall = _of_form(failed, ran)
    if not found.overall and all(a.found.error for a in ran):
        found.overall = _of_errors(ran, asking.framework.name)
        found.cause = "it raises an error, as in every word"
    found.explained = {
        name: _explanations(asking, words)
        for name, words in asked.items()
        if any(a.fails and not a.found.error for a in words)
    }
    if found.overall:
        return found
    found.rule = _reproducing(asking, ran)
    families = [words for words in asked.values() if words]
    several = len(families) >= 4 and sum(any(a.fails for a in w) for w in families) >= NEARLY_ALL * len(
        families
    )
    if found.rule is not None:
        values = [a for a in ran if not a.found.error]
        given = sum(fits(asking.contract, a, found.rule) is not False for a in values)
        found.overall = f"the function behaves like this known error: {found.rule.cause}, in "
        found.overall += (
            f"all {len(ran)} words" if given == len(ran) else f"{given} of {count_noun(len(ran), 'word')}"
        )
    elif several:
        factor = _factor(asking, ran)
        if not all(np.isfinite(x).all() for a in failed for x in (a.found.o, a.found.finals)):
            found.overall = "nearly all families fail, with outputs or states that are infinite or NaN where the right ones are finite"
            found.cause = "outputs or states are infinite or NaN"
        elif factor is not None:
            found.overall = f"every output is {factor:g} times the right one, and final states are right: look at the scale of the outputs"
            found.cause = f"outputs are {factor:g} times the right ones"
        else:
            found.overall = (
                "nearly all families fail, and no known error gives these numbers, so the cause is one that all words share: "
                "layout, the order of arguments, or the recurrence itself"
            )
            found.cause = "no known error gives these numbers; nearly all families fail"
    return found


def _of_form(failed: Sequence[Asked], ran: Sequence[Asked]) -> str:
    """What a function must return instead, once for all words that it returned something of another form for."""
    forms = Counter(a.found.returned for a in failed if a.found.returned)
    if not forms:
        return ""
    rule, number = forms.most_common(1)[0]
    where = (
        f"in all {len(ran)} words" if number == len(ran) else f"in {number} of {count_noun(len(ran), 'word')}"
    )
    return f"{rule} ({where})"


def _of_errors(ran: Sequence[Asked], framework: str) -> str:
    """What is said once where every word raises an error."""
    errors = Counter(a.found.error for a in ran)
    error, number = errors.most_common(1)[0]
    said = f"every word raises the same {error}"
    if number < len(ran):
        said = f"every word raises an error, {number} of {len(ran)} this one: {error}"
    other = "torch" if framework == "numpy" else "numpy"
    if any(re.search(r"torch|tensor|numpy|ndarray|data type|dtype", e, re.IGNORECASE) for e in errors):
        said += f"; is this a function of {other}? It was given arrays of {framework}: then state the framework {other}"
    return said


def _explanations(asking: Asking, asked: Sequence[Asked]) -> list[Rule]:
    """The known errors that give everything that was found of a family; of the half that fails, where gates come in two."""
    ran = [a for a in asked if not a.found.error]
    halves = _failing_halves(ran)
    ran = [a for a in ran if a.word.gate is None or a.gate in halves]
    # a small word that failed refutes most, in the least time
    order = sorted(ran, key=lambda a: (not a.fails, a.word.v.size))
    found = []
    for rule in known_errors():
        shown = False
        for a in order:
            it = fits(asking.contract, a, rule)
            if it is False:
                break
            shown |= a.fails and it is True
        else:
            if shown:
                found.append(rule)
    return found


def _failing_halves(asked: Sequence[Asked]) -> set[str]:
    """The parameters for gates with which a word with gates fails; both where none does."""
    return {a.gate for a in asked if a.fails and a.word.gate is not None} or set(GATES)


def _half(asked: Sequence[Asked]) -> str:
    """Which half fails, where gates were given in two ways and only one of them fails."""
    gated = [a for a in asked if a.word.gate is not None]
    given, wrong = {a.gate for a in gated}, {a.gate for a in gated if a.fails}
    if len(given) < 2 or len(wrong) != 1:
        return ""
    half = next(iter(wrong))
    return f" (only where gates are given as {half}; as {'a' if half == 'g' else 'g'} they are right)"


def _reproducing(asking: Asking, ran: Sequence[Asked]) -> Rule | None:
    """The known error that gives the outputs of all words, or of most; None if there is none."""
    values = [a for a in ran if not a.found.error]
    halves = _failing_halves(values)
    values = [a for a in values if a.word.gate is None or a.gate in halves]
    # small words refute most in the least time, and those that fail more than those that do not
    order = sorted(values, key=lambda a: (not a.fails, a.word.v.size))
    failing = sum(a.fails for a in order)
    best, most = None, (0, 0)
    for rule in known_errors():
        given = against = 0
        for i, a in enumerate(order):
            it = fits(asking.contract, a, rule)
            given += a.fails and it is True
            against += it is False
            # those that fail count by themselves, so that words which the error leaves alone do not outvote them
            if against > (1 - MOST) * (failing if i < failing else len(order)):
                break
        else:
            if given >= failing / 2 and (given, -against) > most:
                best, most = rule, (given, -against)
    return best


def _factor(asking: Asking, ran: Sequence[Asked]) -> float | None:
    """By which number all outputs differ from the right ones, if it is one, and final states are right."""
    factors = set()
    for a in ran:
        if a.found.error:
            return None
        o, finals = expected(a.word, asking.contract.outputs, asking.contract.state, RIGHT)
        bound = float(a.word.bound if a.gate == "g" else a.word.bound_linear) or 2.0**-20
        if not np.allclose(a.found.finals, finals, rtol=0, atol=bound * np.max(np.abs(finals), initial=0)):
            return None
        if (o != 0).any():
            place = np.unravel_index(np.argmax(np.abs(o)), o.shape)
            factor = float(a.found.o[place] / o[place])
            if not np.allclose(a.found.o, factor * o, rtol=0, atol=bound * np.max(np.abs(o))):
                return None
            factors.add(factor)
    if not factors or max(factors) - min(factors) > 2.0**-12 * max(abs(x) for x in factors):
        return None
    return sorted(factors)[len(factors) // 2]
