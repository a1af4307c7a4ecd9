"""Few points whose images determine a word's action on all points."""

from __future__ import annotations

import numpy as np

from ..automaton import Indices, breadth_first


def determining_points(maps: Indices, start: int = 0, *, max_failures: int = 32) -> Indices:
    """Points B such that words over `maps` `[letters, points]` that agree on B agree everywhere; `start` first.

    If a map phi commutes with every letter then w(phi(b)) = phi(w(b)): the image of b determines that of phi(b).
    In a regular representation (a group's word problem, a monoid acting on itself) one point is enough. After
    `max_failures` points for which no such phi exists the search stops and all points left are kept, which is
    never wrong.
    """
    points = maps.shape[1]
    covered = np.zeros(points, dtype=bool)
    base: list[int] = []
    failures = 0
    for b in [start, *range(points)]:
        if covered[b]:
            continue
        base.append(b)
        covered[b] = True
        if failures >= max_failures:
            continue
        tree = _spanning_tree(maps, b)
        commuting: list[Indices] = []
        known = covered.copy()
        for target in range(points):
            if failures >= max_failures:
                break
            if known[target]:
                continue
            phi = _commuting_map(maps, tree, b, target)
            if phi is None:
                failures += 1
                continue
            commuting.append(phi)
            known[breadth_first(np.array(commuting), b)] = True
            known[target] = True
        covered |= known
    return np.array(base, dtype=np.int64)


Tree = list[tuple[Indices, Indices, Indices]]


def _spanning_tree(maps: Indices, root: int) -> Tree:
    """Levels `(points, their parents, the letters that lead there)`, breadth first."""
    letters, points = maps.shape
    seen = np.zeros(points, dtype=bool)
    seen[root] = True
    frontier = np.array([root], dtype=np.int64)
    levels: Tree = []
    while frontier.size:
        images = maps[:, frontier].T.reshape(-1)
        new = np.flatnonzero(~seen[images])
        _, first = np.unique(images[new], return_index=True)
        places = new[np.sort(first)]
        parents, frontier = frontier[places // max(letters, 1)], images[places]
        seen[frontier] = True
        if frontier.size:
            levels.append((frontier, parents, places % letters))
    return levels


def _commuting_map(maps: Indices, tree: Tree, root: int, target: int) -> Indices | None:
    """The map on the points reachable from `root` that sends `root` to `target` and commutes with all letters.

    Points out of reach are left in place. None where there is no such map.
    """
    phi = np.arange(maps.shape[1], dtype=np.int64)
    phi[root] = target
    for level, parents, letters in tree:
        phi[level] = maps[letters, phi[parents]]
    reached = np.concatenate([np.array([root]), *(level for level, _, _ in tree)])
    for block in (maps[:1], maps[1:]):
        if not np.array_equal(phi[block[:, reached]], block[:, phi[reached]]):
            return None
    return phi
