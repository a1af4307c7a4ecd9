"""The automaton of a trained model: exactly from its snapped heads, by active learning (AALpy), or from state clusters.

Each is a Mealy machine, with the answer after each letter, and is minimised and compared with the target automaton. Where no
random word showed a move of a cluster, the model reads a shortest word to the cluster, and the letter. Where a method's time or
another limit is over, it gives what it has so far.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ...constructions.automata._automaton import Automaton, Indices, minimise, separating_word
from ...foundation._errors import InputError, LimitError
from ...foundation._text import count_noun, html_table, one_line
from ...theory.arithmetic._rounding import Floats
from ..learned._learned import Learned, answer_names
from ._budget import Clock, OutOfBudgetError
from ._clusters import Clusters, clusters_of, flatten_heads, observe_states
from ._learning import Answering, Teacher, default_queries, learn_machine
from ._snap import SnappedHead
from ._states import run_beside_automaton

SLICE = 256
"""So many words run side by side."""


def with_unseen_moves(
    learned: Learned,
    points: Floats,
    moves: Indices,
    found: Clusters,
    max_unseen: int,
    clock: Clock | None = None,
) -> Clusters:
    """One vote and one answer for each cluster and letter without any; `points`, `moves` as `observed` gives them.

    The state after the letter belongs to the cluster of the nearest point, if that is within the clusters' radius.
    Otherwise the move stays without a vote, and so do all that there is no time for.
    """
    unseen = np.argwhere(found.votes.sum(axis=2) == 0)
    if len(unseen) > max_unseen:
        raise LimitError(
            f"{learned.name}: {len(unseen):,} letters of {found.votes.shape[1]:,} clusters are unseen, and each takes a run, "
            f"more than {max_unseen:,}: ask for more or longer words, or raise max_unseen"
        )
    _, first = np.unique(found.label, return_index=True)
    to_cluster = [word_to(moves, point) for point in first.tolist()]
    by_length = defaultdict(list)
    for letter, cluster in unseen.tolist():
        by_length[len(to_cluster[cluster])].append((letter, cluster))
    known = found.space.of(points)
    centre = known.mean(axis=0)
    known = known - centre
    norms = np.einsum("pe,pe->p", known, known)
    votes, said = found.votes.copy(), found.said.copy()
    for pairs in by_length.values():
        for i in range(0, len(pairs), SLICE):
            if clock is not None and clock.is_over:
                break
            some = pairs[i : i + SLICE]
            states, answers = _ends(learned, [[*to_cluster[cluster], letter] for letter, cluster in some])
            letters, clusters = np.array(some).T
            point, distance = _nearest(known, norms, found.space.of(states) - centre)
            near = distance <= found.radius
            votes[letters[near], clusters[near], found.label[point[near]]] = 1
            said[letters, clusters, answers] = 1
    return replace(found, votes=votes, said=said)


def word_to(moves: Indices, point: int) -> list[int]:
    """The letters read from the start to a point."""
    word = []
    while point:
        point, letter, _ = moves[point - 1].tolist()
        word.append(letter)
    return word[::-1]


def _ends(learned: Learned, words: Sequence[Sequence[int]]) -> tuple[Floats, Indices]:
    """States `[words, entries]` and answers after words of one length, -1 where nothing is asked."""
    *_, last = run_beside_automaton(learned.target, learned.stepper, np.array(words))
    x, states, _, asked, _ = last
    return flatten_heads(learned.head_states(states)), np.where(asked, learned.stepper.decode(states, x), -1)


def _nearest(known: Floats, norms: Floats, points: Floats) -> tuple[Indices, Floats]:
    """For each of `points` the number of the nearest `known` one, and how far it is: from the difference, see `spanning_tree`."""
    index = (norms - 2 * points @ known.T).argmin(axis=1)
    return index, np.sqrt(((points - known[index]) ** 2).sum(axis=1))


Method = Literal["exact", "kv", "lstar", "clusters"]
METHODS: tuple[Method, ...] = ("exact", "kv", "lstar", "clusters")


@dataclass(frozen=True, eq=False, repr=False)
class Extracted:
    """The automaton of a model, and how it was found.

    Attributes:
        method: `exact`, `kv`, `lstar` or `clusters`.
        automaton: a Mealy machine, minimised.
        strength: how far it is known to be the automaton of the model, in words.
        complete: whether no observation contradicted it.
        counterexample: a shortest word on which it differs from the target, None if they agree on all words.
        confirmed: whether the model itself answers that word wrongly; None without a word.
        seconds: how long it took.
        queries: how many different words the model was asked, by a learner; None for the other methods.
        stopped: the limit, or the interrupt, at which it ended with what it had; None where it ended by itself.
    """

    method: Method
    automaton: Automaton
    strength: str
    complete: bool
    counterexample: tuple[Any, ...] | None
    confirmed: bool | None
    seconds: float = 0.0
    queries: int | None = None
    stopped: str | None = None

    @property
    def is_target(self) -> bool:
        """Whether it is complete and equals the target on all words."""
        return self.complete and self.counterexample is None

    @property
    def text(self) -> str:
        """One line."""
        n = len(self.automaton.states)
        what = f"{count_noun(n, 'state')}{'' if self.complete else ' so far'}, {self.strength}"
        if self.counterexample is None:
            return f"{what}: the target automaton" if self.complete else f"{what}: no difference yet"
        word = _shorten_word(self.counterexample)
        if self.confirmed:
            return f"{what}: not the target: {word}, which the model answers wrongly"
        return f"{what}: neither the target nor the model: {word}, which the model answers rightly"

    def to_json(self) -> dict[str, Any]:
        """Plain values; the automaton as its table.

        Returns:
            The automaton as its table, and the other fields.
        """
        a = self.automaton
        return {
            "method": self.method,
            "states": len(a.states),
            "letters": [str(x) for x in a.letters],
            "transitions": a.transitions.tolist(),
            "start": a.start,
            "outputs": [[str(x) for x in row] for row in a.outputs.tolist()],
            "strength": self.strength,
            "complete": self.complete,
            "is_target": self.is_target,
            "counterexample": None if self.counterexample is None else [str(x) for x in self.counterexample],
            "confirmed": self.confirmed,
            "seconds": round(self.seconds, 3),
            "queries": self.queries,
            "stopped": self.stopped,
        }

    def __repr__(self) -> str:
        return one_line(self, f"{self.method}, {self.text}")

    def _repr_html_(self) -> str:
        return html_table("Extracted automaton", [("method", self.method), ("finding", self.text)])


def extract_exact(learned: Learned, snapped: Sequence[SnappedHead]) -> Extracted:
    """Read the automaton off the snapped heads: their matrix monoid is finite, so its orbit and the model's own read-out on it
    are the automaton.

    Heads that are not snapped are held at their states' mean: so the answer is exact for the model whose heads are replaced.

    Args:
        learned: the layer, with a read-out of given states.
        snapped: its heads that were snapped, at least one.

    Returns:
        The automaton, compared with the target.

    Raises:
        InputError: the model has no read-out of given states, or no head was snapped.
    """
    if learned.read is None or not snapped:
        raise InputError(
            f"{learned.name}: no exact extraction: it needs snapped heads and a read-out of given states; take kv, "
            "lstar or clusters"
        )
    clock = Clock()
    automaton = learned.target.automaton
    states = len(automaton.states)
    by_name = {s.head.name: s.states() for s in snapped}
    held = [by_name.get(h.name, np.repeat(h.H0[None], states, axis=0)) for h in learned.heads]
    table = np.empty_like(automaton.transitions)
    for x, after in enumerate(automaton.transitions):
        table[x] = learned.read([H[after] for H in held], np.full(states, x))
    machine = replace(automaton, outputs=_mask_answers(learned, table))
    return _compare_machine(
        "exact",
        learned,
        machine,
        f"exact for the model with {len(by_name)} of {len(learned.heads)} heads snapped",
        True,
        clock,
    )


def extract_learning(
    learned: Learned,
    method: Method = "kv",
    *,
    words: int = 200,
    length: int = 500,
    depth: int = 6,
    seed: int = 0,
    max_states: int = 200,
    max_words: int = 5_000,
    max_queries: int | None = None,
    max_seconds: float | None = None,
) -> Extracted:
    """Learn the automaton of a model actively, by L* or KV, with the model answering queries.

    First all states of the model are followed, as `prove` does it. Where they close, a hypothesis is compared with all of them,
    and the result holds for words of every length. Otherwise counterexamples come from all short words, and every prefix of
    random ones. Where learning stops at a limit, the result is the hypothesis that was right longest, `complete` is False, and
    the counterexample may be the contradiction of that hypothesis. Learning also stops where the hypothesis is the target and the model
    differs from it only on words so long that no further automaton could be learned within the limits. Ctrl-C stops it too.

    Args:
        learned: the model.
        method: `kv` or `lstar`.
        words: the number of random words of the oracle, at least 0.
        length: the number of letters of each word.
        depth: the oracle tries all words up to this length, in letters.
        seed: the seed of the random words, at least 0.
        max_states: the largest number of states of a hypothesis.
        max_words: the largest number of short words that are tried.
        max_queries: the largest number of different words that the model may be asked; None for the n (k + 1) (n + k) entries of
            the table of L*, for n states and k letters of the target, but at least 500.
        max_seconds: the largest number of seconds, 0 or more; None for no limit.

    Returns:
        The automaton, compared with the target.

    Raises:
        MissingExtraError: AALpy, the extra `aalpy`, is not installed.
        LimitError: a limit was reached before there was a hypothesis.

    Source: KV: Kearns and Vazirani, An Introduction to Computational Learning Theory, chapter 8; L*: Angluin 1987.
    """
    return learn_from(
        Teacher(learned), method, Clock(max_seconds), words=words, length=length, depth=depth, seed=seed,
        max_states=max_states, max_words=max_words, max_queries=max_queries,
    )  # fmt: skip


def learn_from(
    teacher: Teacher,
    method: Method,
    clock: Clock,
    *,
    words: int = 200,
    length: int = 500,
    depth: int = 6,
    seed: int = 0,
    max_states: int = 200,
    max_words: int = 5_000,
    max_queries: int | None = None,
) -> Extracted:
    """`extract_learning` from a teacher that several methods share, within the time of a clock."""
    learned = teacher.learned
    automaton = learned.target.automaton
    if max_queries is None:
        max_queries = default_queries(len(automaton.states), len(automaton.letters))
    found = learn_machine(
        teacher, method, words=words, length=length, depth=depth, seed=seed, max_states=max_states,
        max_words=max_words, max_queries=max_queries, clock=clock,
    )  # fmt: skip
    extracted = _compare_machine(
        method,
        learned,
        found.machine,
        found.strength,
        found.contradiction is None and found.stopped is None,
        clock,
        found.contradiction,
    )
    return replace(extracted, queries=found.queries, stopped=found.stopped)


def extract_clusters(
    learned: Learned,
    *,
    words: int = 60,
    length: int = 60,
    seed: int = 0,
    radius: float | None = None,
    max_points: int = 4_000,
    max_clusters: int = 200,
    max_unseen: int = 30_000,
    max_seconds: float | None = None,
) -> Extracted:
    """Make an automaton from clusters of states. States within `radius` of each other, directly or by steps, form a cluster;
    transitions and answers are determined by majority.

    Where moves of all heads together do not agree, those of single heads are tried: `clusters_of`. Then each letter that no
    word showed at a cluster is read there: `with_unseen_moves`. It is `complete` where every observed move and answer agrees
    with the majority, and every letter leads from each cluster to one of them.

    Args:
        learned: the layer, with at least one head.
        words: random words that are read, at least 1.
        length: the number of letters of each word, at least 1.
        seed: the seed of the random words, at least 0.
        radius: a distance of states, above 0; by default in the widest gap, by quotient, of the lengths of the minimal
            spanning tree that leaves at most `max_clusters`.
        max_points: the largest number of states that are clustered.
        max_clusters: the largest number of clusters.
        max_unseen: the largest number of letters at clusters that are read in addition.
        max_seconds: the largest number of seconds, 0 or more, after which no further head and no further letter is tried; None for
            no limit.

    Returns:
        The automaton, compared with the target.

    Raises:
        InputError: the model has no heads whose states could be clustered.
        LimitError: there are more clusters than `max_clusters`, or more unseen letters than `max_unseen`, or the time was over before
            there were any clusters.
    """
    return cluster_within(
        learned, Clock(max_seconds), words=words, length=length, seed=seed, radius=radius, max_points=max_points,
        max_clusters=max_clusters, max_unseen=max_unseen,
    )  # fmt: skip


def cluster_within(
    learned: Learned,
    clock: Clock,
    *,
    words: int = 60,
    length: int = 60,
    seed: int = 0,
    radius: float | None = None,
    max_points: int = 4_000,
    max_clusters: int = 200,
    max_unseen: int = 30_000,
) -> Extracted:
    """`extract_clusters` within the time of a clock."""
    if not learned.heads:
        raise InputError(f"{learned.name}: it has no heads whose states could be clustered; take kv or lstar")
    try:
        points, moves, answers = observe_states(learned, words, length, seed, max_points, clock)
    except OutOfBudgetError as limit:
        raise LimitError(
            f"{learned.name}: no extraction by clusters: no clusters within {limit}: give it more time"
        ) from None
    found = clusters_of(learned, points, moves, answers, radius, max_clusters, clock)
    closed = with_unseen_moves(learned, points, moves, found, max_unseen, clock)
    cut = clock.is_over and not closed.complete
    k = closed.votes.shape[1]
    seen = closed.votes.sum(axis=2) > 0
    added, unknown = int(closed.votes.sum() - found.votes.sum()), int((~seen).sum())
    machine = Automaton(
        tuple(range(k)),
        learned.target.automaton.letters,
        np.where(seen, closed.votes.argmax(axis=2), np.arange(k)),
        int(found.label[0]),
        answer_names(closed.said.argmax(axis=2), learned.target.names),
        f"{learned.name}, clusters",
    )
    strength = (
        f"{len(points):,} states of {found.space.name}, after up to {length} letters of random words, form {count_noun(k, 'cluster')}: states within "
        f"{found.radius:.3g} of each other are in one. Of all moves and answers {found.share:.2%} are those of most states of "
        f"their cluster"
        f"{f'. Where no word showed what a letter does to a cluster it was tried: {added:,} moves were found, and {unknown:,} lead to no cluster' if added or unknown else ''}"
    )
    if cut:
        strength = f"stopped after {clock.seconds:.3g} s; {strength}"
    extracted = _compare_machine("clusters", learned, machine, strength, closed.complete, clock)
    return replace(extracted, stopped=f"its {clock.seconds:.3g} s") if cut else extracted


def _compare_machine(
    method: Method,
    learned: Learned,
    machine: Automaton,
    strength: str,
    complete: bool,
    clock: Clock,
    contradiction: tuple[int, ...] | None = None,
) -> Extracted:
    smallest = minimise(machine)
    word = separating_word(smallest, learned.target.machine)
    if word is None and contradiction is not None:  # the hypothesis is the target, the model is not
        word = [learned.target.automaton.letters[x] for x in contradiction]
    confirmed = None
    if word is not None:
        answering = Answering(learned)
        indices = np.array([learned.target.automaton.letter_index(x) for x in word])
        given = answering.answers(indices[None])[0]
        confirmed = bool((given != answering.right(indices[None])[0]).any())
    counterexample = None if word is None else tuple(word)
    return Extracted(method, smallest, strength, complete, counterexample, confirmed, clock.spent)


def _mask_answers(learned: Learned, answers: Indices) -> Any:
    """Texts of a table of answers, `not asked` where the target asks nothing."""
    return answer_names(np.where(learned.target.table < 0, -1, answers), learned.target.names)


def _shorten_word(word: Sequence[Any], most: int = 12) -> str:
    texts = [str(x) for x in word]
    if len(texts) <= most:
        return " ".join(texts)
    return f"{' '.join(texts[:most])} ... ({len(texts)} letters)"
