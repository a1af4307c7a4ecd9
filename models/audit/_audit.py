"""`audit`: from a model's configuration to the eigenvalues of its recurrences, and to what theorems say of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from ...foundation._arguments import require_path, show_value
from ...foundation._errors import InputError
from ...foundation._files import is_file, is_folder, read_json
from ...foundation._registry import entry_names
from ...foundation._text import count_noun, html_table
from ._conclusions import Conclusion, conclude
from ._recurrence import AuditedFamily, Layer, Recurrence

MOST_LAYERS = 100_000
LARGEST_NUMBER = 10**6
"""Largest absolute value of an entry that is no whole number."""
_SAME = ("layer_types", "layers_block_type")
"""Two names of one entry in transformers, where a model type lists its layers."""
_LIKE = ("mtp_layers_block_type", "mlp_layer_types")
"""Entries of transformers that are written almost like one that is read."""
SLIP = 0.87
"""Likeness, of `difflib`, from which an entry that is not known is taken for a slip in one that is."""
_REPLACED = ("full_attention_interval", "attn_layer_period", "attn_layer_offset")
"""Entries that say nothing where the layers are listed."""


@dataclass(frozen=True)
class Audit:
    """What a configuration says of a model's recurrences.

    Attributes:
        model_type: the model type of the configuration.
        library: whose configuration it is, with the version that this was written for.
        layers: what each layer consists of, from below: recurrences, and in words what has none, such as `attention`.
        assumed: entries that the configuration does not have, with the value that was taken, which is the library's.
        conclusions: what follows for the recurrences, whatever the weights are.
        slips: entries that are not read and are written almost like one that is, with that one.
    """

    model_type: str
    library: str
    layers: tuple[tuple[Layer, ...], ...]
    assumed: Mapping[str, Any]
    conclusions: tuple[Conclusion, ...]
    slips: Mapping[str, str] = field(default_factory=dict)

    @property
    def recurrences(self) -> tuple[Recurrence, ...]:
        """The recurrence of each layer that has one, from below."""
        return tuple(part for layer in self.layers for part in layer if isinstance(part, Recurrence))

    @property
    def has_attention(self) -> bool:
        """Whether a layer is attention, of which no statement here speaks."""
        return any(_is_attention(part) for layer in self.layers for part in layer)

    @property
    def headline(self) -> str:
        """What counts, in a sentence or two."""
        recurrent, count = len(self.recurrences), len(self.layers)
        if not recurrent:
            return f"{self.model_type}: none of its {count_noun(count, 'layer')} is recurrent, so nothing here is about it."
        kinds = list(dict.fromkeys(self.recurrences))
        said = "; ".join(f"{kind.name}, eigenvalues {kind.eigenvalues}" for kind in kinds)
        share = "its only layer is" if count == 1 else f"{recurrent} of {count} layers are"
        share = f"all {count} layers are" if recurrent == count > 1 else share
        return f"{self.model_type}: {share} recurrent ({said})."

    def rows(self) -> list[list[str]]:
        """A table of the kinds of layers; the first row has the headings."""
        places: dict[Layer, list[int]] = {}
        for i, layer in enumerate(self.layers):
            for part in layer:
                places.setdefault(part, []).append(i)
        rows = [["layers", "kind", "transition", "β‖k‖²", "gates", "eigenvalues of a token"]]
        for part, at in places.items():
            if isinstance(part, Recurrence):
                rows.append(
                    [str(len(at)), part.name, part.transition, part.beta, part.gate, part.eigenvalues]
                )
            else:
                rows.append([str(len(at)), part, "", "", "", "not covered" if _is_attention(part) else ""])
        return rows

    def legend(self) -> list[str]:
        """What the columns of `rows` are, in sentences; empty where no layer is recurrent."""
        if not self.recurrences:
            return []
        columns = [
            "layers: how many have the kind; a layer with two kinds counts for both",
            "transition: the matrix A(x) by which a token x multiplies the state",
        ]
        if any(kind.beta for kind in self.recurrences):
            columns.append(
                "β‖k‖²: its range, for factors I - β k kᵀ, which have the eigenvalue 1 - β‖k‖²; above 1 it is negative, 2 is a reflection"
            )
        if any(kind.gate for kind in self.recurrences):
            columns.append("gates: the range of the numbers that multiply the state beside the factors")
        return [*columns, "eigenvalues of a token: those that A(x) can have, whatever the weights are"]

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain values for JSON."""
        return {
            "model_type": self.model_type,
            "library": self.library,
            "layers": [
                [part if isinstance(part, str) else asdict(part) for part in layer] for layer in self.layers
            ],
            "assumed": dict(self.assumed),
            "slips": dict(self.slips),
            "conclusions": [asdict(conclusion) for conclusion in self.conclusions],
        }

    def _repr_html_(self) -> str:
        return html_table(self.headline, [(c.claim, f"{c.text} ({c.arithmetic})") for c in self.conclusions])


def _is_attention(part: Layer) -> bool:
    return isinstance(part, str) and "attention" in part


@cache
def audited_families() -> Mapping[str, AuditedFamily]:
    """The families whose configurations are read, by model type."""
    import importlib

    package = f"{__package__}.families"
    found: dict[str, AuditedFamily] = {}
    for file in entry_names(package):
        for family in importlib.import_module(f"{package}.{file}").FAMILIES:
            found.update(dict.fromkeys(family.model_types, family))
    return found


def is_own_folder(path: str | PathLike[str]) -> bool:
    """Whether a path is a folder that this package wrote: a model, or a training, whose weights are measured.

    Args:
        path: any path.
    """
    place = Path(require_path("model", path, "a config.json, its folder, or a model folder"))
    if not is_folder(place):
        return False
    if not is_file(place / "config.json"):
        return is_file(place / "settings.json")
    data = read_json(place / "config.json")
    return isinstance(data, dict) and str(data.get("format")).startswith("mirrormata-model/")


def audit(config: str | PathLike[str] | Mapping[str, Any]) -> Audit:
    """What a model's recurrences can do, by its configuration alone: the ranges of β, gates and eigenvalues, and what follows by theorem.

    The statements are about the recurrent layers, whatever their weights are. Attention layers are named and not covered.

    Args:
        config: a Hugging Face `config.json`, the folder that it lies in, or its contents.

    Returns:
        The layers and the statements.

    Raises:
        InputError: there is no such file, its model type is not known, or an entry is missing or wrong.

    Examples:
        >>> audit({"model_type": "gla", "num_hidden_layers": 2}).conclusions[0].claim
        'G.T1'
    """
    if isinstance(config, Mapping):
        name, data = "config", dict(config)
    else:
        place = Path(require_path("config", config, "a config.json, its folder, or its contents"))
        place = place / "config.json" if is_folder(place) else place
        name, data = str(place), read_json(place)
    if not isinstance(data, dict):
        raise InputError(f"{name}: an object is needed, as Hugging Face's config.json is")
    inner = data.get("text_config")
    if isinstance(inner, dict):  # of a model that also sees pictures
        data = {"model_type": data.get("model_type"), **inner}
    model_type, family = _family_of(data, name)
    data = _under_one_name(family, data, name)
    entries, assumed = _read_entries(family, data, name)
    try:
        layers = tuple(family.layers(entries))
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    recurrences = [part for layer in layers for part in layer if isinstance(part, Recurrence)]
    return Audit(
        model_type, family.library, layers, assumed, tuple(conclude(recurrences)), _slips(family, data)
    )


def _family_of(data: Mapping[str, Any], name: str) -> tuple[str, AuditedFamily]:
    families = audited_families()
    model_type = data.get("model_type")
    if model_type is None:
        raise InputError(
            f"{name}: it has no model_type, so it is no configuration of Hugging Face; of a model of this package give the folder, whose weights `audit_weights` measures"
        )
    if isinstance(model_type, str) and model_type in families:
        return model_type, families[model_type]
    near = get_close_matches(str(model_type), families, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise InputError(
        f"{name}: the model type {show_value(model_type)} is not in the table{hint} It has {', '.join(sorted(families))}"
        if hint
        else f"{name}: the model type {show_value(model_type)} is not in the table, which has {', '.join(sorted(families))}"
    )


def _under_one_name(family: AuditedFamily, data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The configuration with the list of its layers under the name that is read; `InputError` where the model type takes no list."""
    known = [entry for entry in _SAME if entry in family.entries]
    changed = dict(data)
    for entry in _SAME:
        if entry in known or data.get(entry) is None or not family.library.startswith("transformers"):
            continue
        if not known:
            rest = ", ".join(sorted(family.entries))
            raise InputError(
                f"{name}: {entry} is given, and transformers takes no list of layers for this model type: leave it out; read are {rest}"
            )
        if changed.get(known[0]) is None:
            changed[known[0]] = data[entry]
        elif changed[known[0]] != data[entry]:
            raise InputError(
                f"{name}: {entry} and {known[0]} differ, and are one entry: leave one of them out"
            )
    return changed


def _slips(family: AuditedFamily, data: Mapping[str, Any]) -> dict[str, str]:
    """Entries that are not read, each with the one that is written almost like it and is not there itself."""
    absent = [entry for entry in family.entries if entry not in data]
    found: dict[str, str] = {}
    for entry in data:
        if entry in family.entries or entry in _SAME or entry in _LIKE:
            continue
        found.update({str(entry): near for near in get_close_matches(str(entry), absent, 1, SLIP)})
    return found


def _read_entries(
    family: AuditedFamily, data: Mapping[str, Any], name: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The entries that the family reads, and those of them that are the library's defaults."""
    entries: dict[str, Any] = {}
    assumed: dict[str, Any] = {}
    kind: Any
    for entry, wanted in family.entries.items():
        kind, *default = wanted if isinstance(wanted, tuple) else (wanted,)
        value: Any = data.get(entry)
        if entry not in data or (value is None and default):
            if not default:
                slip = next((wrong for wrong, near in _slips(family, data).items() if near == entry), None)
                hint = "" if slip is None else f"; {slip} is no entry: did you mean {entry}?"
                raise InputError(f"{name}: {entry} is missing{hint}")
            entries[entry] = default[0]
            listed = data.get("layer_types") or data.get("layers_block_type")
            if default[0] is not None and not (listed and entry in _REPLACED):
                assumed[entry] = default[0]
            continue
        if type(value) is not kind and not (kind is float and type(value) is int):
            raise InputError(f"{name}: {entry} is {show_value(value)}: its type is {kind.__name__}")
        if kind is float and not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
            raise InputError(
                f"{name}: {entry} is {show_value(value)}: a number from -{LARGEST_NUMBER:,} to {LARGEST_NUMBER:,} is needed"
            )
        if kind is int and not 0 <= value <= MOST_LAYERS:
            raise InputError(f"{name}: {entry} is {value:,}: a number from 0 to {MOST_LAYERS:,} is needed")
        if kind is list and len(value) > MOST_LAYERS:
            raise InputError(f"{name}: {entry} has {len(value):,} entries; at most {MOST_LAYERS:,} are read")
        entries[entry] = value
    for positive in ("attn_layer_period", "full_attention_interval", "num_householder"):
        if entries.get(positive) == 0:
            raise InputError(f"{name}: {positive} is 0: a number from 1 is needed")
    return entries, assumed
