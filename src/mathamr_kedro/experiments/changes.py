"""What two versions of a result do not share: settings, data, software."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mathamr_kedro.evaluation.stats import Column, Row, Table
from mathamr_kedro.evaluation.stats.tables import MISSING

Values = Mapping[str, Any]


class Change(NamedTuple):
    """A setting or fact that two versions do not share."""

    name: str
    old: Any
    new: Any
    conditions: tuple[str, ...] = ()
    """Those that it concerns; empty: all."""

    def __str__(self) -> str:
        """Return ``training.num_epochs 7 → 3``."""
        return f"{self._label} {_show(self.old)} → {_show(self.new)}"

    @property
    def _label(self) -> str:
        where = ", ".join(self.conditions)
        return f"{where}: {self.name}" if where else self.name

    @classmethod
    def list(cls, old: Values, new: Values) -> list[Change]:
        """Return all that differs between two results of ``Outcome.describe``."""
        facts = [
            cls(name, before, after)
            for name, before, after in _pair_facts(old, new)
            if before != after
        ]
        if not cls.are_recorded(old, new):
            return facts
        return [*facts, *_compare_settings(old["settings"], new["settings"])]

    @staticmethod
    def are_recorded(*results: Values) -> bool:
        """Tell whether settings are known; older releases did not record them."""
        return all("settings" in result for result in results)

    @staticmethod
    def tabulate(changes: Sequence[Change]) -> Table:
        """Return names with both values."""
        rows = [Row((c._label,), (_show(c.old), _show(c.new))) for c in changes]
        columns = (Column("old", "old"), Column("new", "new"))
        return Table("Settings that differ", ("Setting",), columns, tuple(rows))


def _pair_facts(old: Values, new: Values) -> Iterator[tuple[str, Any, Any]]:
    yield "topic set", old["topic_set"], new["topic_set"]
    yield "collection", _name_collection(old), _name_collection(new)
    yield "AMR parser", old.get("amr_parser"), new.get("amr_parser")
    yield "seeds", _list_seeds(old), _list_seeds(new)
    before, after = (result.get("versions", {}) for result in (old, new))
    for package in before.keys() & after.keys():
        yield f"version of {package}", before[package], after[package]


def _name_collection(result: Values) -> str:
    posts = result.get("posts")
    size = f" ({posts:,} posts)" if posts is not None else ""
    return f"{result['collection'][:6]}{size}"


def _list_seeds(result: Values) -> list[int]:
    return sorted({found["seed"] for row in result["rows"].values() for found in row})


def _compare_settings(old: Values, new: Values) -> list[Change]:
    """Return the settings that differ; one that does in all conditions once."""
    conditions = [name for name in new["conditions"] if name in old["conditions"]]
    found: dict[tuple[str, str, str], tuple[Change, list[str]]] = {}
    for condition in conditions:
        before, after = (
            {**result["shared"], **result["conditions"][condition]}
            for result in (old, new)
        )
        for name in dict.fromkeys([*before, *after]):
            if before.get(name) != after.get(name):
                change = Change(name, before.get(name), after.get(name))
                key = name, repr(change.old), repr(change.new)
                found.setdefault(key, (change, []))[1].append(condition)
    return [
        change._replace(conditions=() if len(where) == len(conditions) else (*where,))
        for change, where in found.values()
    ]


def _show(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_show(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "[]"
    return MISSING if value is None else str(value)
