"""Records found by their files: every file of a folder without an underscore holds one, and nothing lists them.

A new theorem, certificate kind or kind of realisation is one new file; no other file is edited.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TypeVar

Record = TypeVar("Record")


def entry_names(package: str) -> list[str]:
    """The names, in order, of a package's files that do not begin with `_`: its entries.

    Args:
        package: full name of the package whose folder is scanned.
    """
    folder = importlib.import_module(package)
    return sorted(m.name for m in pkgutil.iter_modules(folder.__path__) if not m.name.startswith("_"))


def find_records(package: str, attribute: str, kind: type[Record]) -> list[Record]:
    """The records of a package's files, in the order of the files' names.

    Args:
        package: full name of the package whose folder is scanned.
        attribute: name under which every file whose name does not begin with `_` holds its record.
        kind: type of the records.

    Raises:
        TypeError: a file holds no such record; it names the file and the attribute.
    """
    records = []
    for name in entry_names(package):
        module = importlib.import_module(f"{package}.{name}")
        record = getattr(module, attribute, None)
        if not isinstance(record, kind):
            raise TypeError(
                f"{module.__file__}: no {attribute} of type {kind.__name__}; a file of shared code has a name that "
                "begins with _"
            )
        records.append(record)
    return records
