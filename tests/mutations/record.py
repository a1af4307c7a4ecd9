"""A mutation of the trusted base: a wrong change of one text in one function, which a check must notice.

The function is named, not its line or its file's place: where the named module does not have it any more, the one
module of the same folder tree that has a function of that name with that text is taken.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERIFY = "verify --quick"


class NotFound(Exception):  # noqa: N818 - a verdict about the list, not an error of the program
    """The text is not there exactly once."""


@dataclass(frozen=True)
class Mutation:
    """`target`: `module:function`, such as `theory.checker.regions:apart`, or `module:Class.method`, or a constant.

    `old`: a text that occurs in it exactly once; `new`: what takes its place; `wrong`: what is then wrong, in a sentence.
    `noticed_by`: `verify --quick`, or a quick test `tests/test_x.py::test_y`. `equivalent_because`: why nothing can notice
    it, for one that changes nothing.
    """

    target: str
    old: str
    new: str
    wrong: str
    noticed_by: str = VERIFY
    equivalent_because: str = ""

    @property
    def name(self) -> str:
        """One line that names it."""
        return f"{self.target}: {self.old} -> {self.new}"

    def place(self, root: Path = ROOT) -> tuple[Path, int]:
        """The file, and where the text begins in it; `NotFound` where that is not one place."""
        module, _, path = self.target.partition(":")
        first = root.joinpath(*module.split(".")).with_suffix(".py")
        found = list(self._places(first, path)) if first.exists() else []
        if not found:
            files = sorted((root / module.split(".")[0]).rglob("*.py"))
            found = [place for file in files for place in self._places(file, path)]
        if len(found) != 1:
            raise NotFound(f"{self.name}: the text is in {len(found)} places, not one")
        return found[0]

    def apply(self, root: Path) -> Path:
        """Make the change in a copy of the package; the file that is changed."""
        file, at = self.place(root)
        text = file.read_text(encoding="utf-8")
        file.write_text(text[:at] + self.new + text[at + len(self.old) :], encoding="utf-8")
        return file

    def _places(self, file: Path, path: str) -> Iterator[tuple[Path, int]]:
        text = file.read_text(encoding="utf-8")
        if self.old not in text:
            return
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        for node in _nodes(ast.parse(text).body, path.split(".")):
            start, end = starts[node.lineno - 1], starts[node.end_lineno or node.lineno]
            at = text.find(self.old, start, end)
            while at >= 0:
                yield file, at
                at = text.find(self.old, at + 1, end)


def _nodes(body: list[ast.stmt], path: list[str]) -> Iterator[ast.stmt]:
    """The definitions or assignments of this name."""
    for node in body:
        if path[0] in _names(node):
            if len(path) == 1:
                yield node
            elif isinstance(node, ast.ClassDef):
                yield from _nodes(node.body, path[1:])


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.AnnAssign):
        return [node.target.id] if isinstance(node.target, ast.Name) else []
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []
