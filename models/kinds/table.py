"""Kind `table`: an `LRNN` as weights of a `Model`, the modules that are trained."""

from __future__ import annotations

from .._constructed import model_of_table
from .._kinds import ModelKind

KIND = ModelKind(kind="table", build=lambda lrnn, max_entries: model_of_table(lrnn, max_entries=max_entries))
