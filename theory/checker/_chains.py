"""Why sizes of sets suffice for a chain, and how many states a window leaves: by listing them, claims 2 and 3 of `chain.py`."""

from __future__ import annotations

from array import array as packed
from typing import TypeAlias

from ._exact import need

MAX_LISTED = 100_000_000  # members of sets that are gone through, in lists of sets and of chains
MAX_KEPT = 20_000_000  # members of sets that are kept at the same time
OBJECT = 30  # what a set costs beside its members, in time and in memory, counted in members
HASHED = 4  # so many members of a chain that is looked up cost as much as one that a letter moves

Letters: TypeAlias = list[list[int]]
Set: TypeAlias = tuple[int, ...]
Chain: TypeAlias = tuple[Set, ...]


class Listing:
    """Counts the members that are gone through and kept, so that a small certificate cannot ask for endless work or memory."""

    def __init__(self) -> None:
        self.left, self.room = MAX_LISTED, MAX_KEPT

    def keep(self, members: int) -> None:
        """So many more entries stay in memory."""
        self.room -= members + OBJECT
        need(self.room >= 0, f"more than {MAX_KEPT:,} members of sets to keep")

    def spend(self, members: int) -> None:
        """So many members of a set are gone through."""
        self.left -= members + OBJECT
        need(self.left >= 0, f"more than {MAX_LISTED:,} members of sets to list")

    def image(self, row: list[int], members: Set) -> set[int]:
        """The image of a set under a letter."""
        self.spend(len(members))
        return {row[x] for x in members}


def check_window(letters: Letters, n: int, size: int, length: int) -> int:
    """Claim 3, for the letters that move a state; the number of sets listed."""
    listing, code = Listing(), "H" if n <= 65_536 else "L"
    # by size, each set in its packed form with the longest path of letters that leads to it
    paths: dict[int, dict[bytes, int]] = {n: {packed(code, range(n)).tobytes(): 0}}
    count = longest = 0
    for c in range(n, size, -1):
        level = paths.pop(c, {})
        # letters that keep the size lead from set to set of one size, the others to smaller sets
        arrows: dict[bytes, list[bytes]] = {}
        smaller: dict[bytes, list[tuple[int, bytes]]] = {}
        todo = list(level)
        while todo:
            key = todo.pop()
            members = tuple(packed(code, key))
            arrows[key], smaller[key] = [], []
            for row in letters:
                image = listing.image(row, members)
                # sets of `size` or fewer states are what is to be reached
                if len(image) <= size:
                    continue
                after = packed(code, sorted(image)).tobytes()
                if len(image) < c:
                    listing.keep(len(image))
                    smaller[key].append((len(image), after))
                    continue
                arrows[key].append(after)
                if after not in level:
                    listing.keep(len(image) + len(letters))
                    level[after] = 0
                    todo.append(after)
        count += len(arrows)
        # take away sets that no arrow leads to; what is left in the end lies on or behind a cycle
        waiting = dict.fromkeys(arrows, 0)
        for targets in arrows.values():
            for after in targets:
                waiting[after] += 1
        free = [key for key, arriving in waiting.items() if arriving == 0]
        taken = 0
        while free:
            key = free.pop()
            # all arrows to this set have been counted, so its path is the longest one
            taken += 1
            path = level[key]
            longest = max(longest, path)
            for after in arrows[key]:
                level[after] = max(level[after], path + 1)
                waiting[after] -= 1
                if waiting[after] == 0:
                    free.append(after)
            for c_after, after in smaller[key]:
                below = paths.setdefault(c_after, {})
                # the sets of smaller sizes come later, so their paths are complete by then
                below[after] = max(below.get(after, 0), path + 1)
        # what was not taken away lies on or behind a cycle of letters
        need(taken == len(arrows), f"window: letters lead back to a set of {c} states, more than {size}")
    # claim 3: the longest path among the large sets has m - 1 letters
    need(length == longest + 1, f"window: its length is {longest + 1}")
    return count


def check_drops(letters: Letters, n: int, starts: list[int], sizes: list[int]) -> int:
    """Claim 2: the chains are listed down to the last level below which a size falls by more than one; their number."""
    drops = [i for i in range(len(sizes) - 1) if sizes[i] - sizes[i + 1] > 1]
    if not drops:
        return 0
    listing = Listing()
    whole: Chain = (tuple(range(n)),)
    # invariant of the loop: for each chain X_1, ..., X_i that words lead to, where the letters take it
    moves: dict[Chain, list[Chain]] = {whole: [whole] * len(letters)}
    begun = dict.fromkeys(starts, whole)
    for i in range(drops[-1] + 1):
        if i > 0:
            moves = longer_chains(letters, begun, sizes[: i + 1], moves, listing)
        # claim 2: a fall by one always satisfies the lemma
        if sizes[i] - sizes[i + 1] == 1:
            continue
        listing.spend(len(moves) * sizes[i] // HASHED)
        for members in {chain[-1] for chain in moves}:
            for x, row in enumerate(letters):
                count = len(listing.image(row, members))
                need(
                    # the premise of claim 1: injective on X_i, or at most n_{i+1} images
                    count == len(members) or count <= sizes[i + 1],
                    f"sizes[{i + 1}]: letter {x} makes {count} states of a set of {len(members)}",
                )
    return len(moves)


def longer_chains(
    letters: Letters,
    begun: dict[int, Chain],
    sizes: list[int],
    moves: dict[Chain, list[Chain]],
    listing: Listing,
) -> dict[Chain, list[Chain]]:
    """The chains of these sizes that words lead to, each with where the letters take it; `moves`: of those one set shorter.

    `begun`: each start with its chain one set shorter, which becomes that of these sizes.
    """
    found: dict[Chain, list[Chain]] = {}
    todo: list[Chain] = []
    alike: dict[Chain, Chain] = {}
    # a chain is looked up, and compared with the one that is found, by all members of its sets
    hashed = sum(sizes) // HASHED
    for start, above in begun.items():
        listing.spend(len(above[-1]) + 2 * hashed)
        # at first each set holds the start and the least others of the set above it
        chain: Chain = (*above, filled({start}, above[-1], sizes[-1]))
        if chain not in alike:
            listing.keep(len(chain[-1]) + len(chain) + len(letters))
            alike[chain], found[chain] = chain, []
            todo.append(chain)
        begun[start] = alike[chain]  # equal chains are kept once
    for chain in todo:  # which grows on the way
        listing.spend(2 * hashed)
        targets = found[chain]
        for row, upper in zip(letters, moves[chain[:-1]], strict=True):
            # X_i is the last set but one, `upper` is X'_1, ..., X'_i; once for the image and once for what is filled up
            listing.spend(len(chain[-2]) + 2 * hashed)
            image = listing.image(row, chain[-2])
            if len(image) == len(chain[-2]):
                last = tuple(sorted(listing.image(row, chain[-1])))
            else:
                # not injective: a(X_i) and the least other members of X'_i
                last = filled(image, upper[-1], sizes[-1])
            after = (*upper, last)
            targets.append(after)
            if after not in found:
                listing.keep(len(last) + len(after) + len(letters))
                found[after] = []
                todo.append(after)
    return found


def filled(image: set[int], within: Set, size: int) -> Set:
    """The image and the least other members of a set that holds it."""
    others = [x for x in within if x not in image]
    result = tuple(sorted([*image, *others[: size - len(image)]]))
    need(len(result) == size, f"sizes: an image has {len(image)} states, more than {size}")
    return result


def reachable(letters: Letters, start: int) -> set[int]:
    """The states that words lead to."""
    seen, todo = {start}, [start]
    while todo:
        q = todo.pop()
        for row in letters:
            if row[q] not in seen:
                seen.add(row[q])
                todo.append(row[q])
    return seen
