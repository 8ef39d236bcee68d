"""What is known of statements: their kinds, and who uses them.

::

    lemma 10.20.1 (Nakayama's lemma), Nakayama's lemma; used by 12 statements
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.types import PostId
from mathamr_kedro.graph import POST_TYPES


class StatementNote(NamedTuple):
    """What is known of a statement."""

    kind: str
    number: str | None
    name: str | None
    section: str
    used_by: int
    """Number of statements whose proofs cite it."""

    def describe(self) -> str:
        """Describe it in a line."""
        name = f"({self.name})" if self.name else ""
        title = " ".join(filter(None, [self.kind, self.number, name]))
        place = ", ".join(filter(None, [title, self.section]))
        if not self.used_by:
            return place
        return f"{place}; used by {count_nouns(self.used_by, 'statement')}"


class Statements:
    """The statements of a collection.

    Args:
        table: of :class:`~mathamr_kedro.base.records.Statement`; ``None``: there are
            none.
        links: which statements a proof cites; ``None``: it is not known.
    """

    def __init__(self, table: Any = None, links: Any = None) -> None:
        self._table, self._links = table, links

    def find_posts(self, kinds: Sequence[str]) -> set[PostId] | None:
        """Return the posts that are statements of some kinds; ``None`` for no kinds.

        Raises:
            ConfigurationError: there is no such kind.
        """
        if not kinds:
            return None
        for kind in kinds:
            if kind not in self._posts_by_kind:
                known = [*sorted(self._posts_by_kind), *POST_TYPES]
                raise ConfigurationError(
                    f"Expected a type of post or a kind of statement (got {kind!r})"
                    f"{suggest(kind, known)} Known: {', '.join(known)}"
                )
        return {key for kind in kinds for key in self._posts_by_kind[kind]}

    def describe(self, ids: Collection[PostId]) -> Mapping[PostId, StatementNote]:
        """Return what is known of those posts that are statements."""
        rows = self._table.find_all("post_id", ids) if self._table is not None else {}
        return {
            key: StatementNote(
                row.kind, row.number, row.name, row.section, self._uses[key]
            )
            for key, row in rows.items()
        }

    @cached_property
    def _posts_by_kind(self) -> Mapping[str, list[PostId]]:
        found: dict[str, list[PostId]] = {}
        table = self._table
        for part in table.tables(["kind", "post_id"]) if table is not None else ():
            columns = (part["kind"].to_pylist(), part["post_id"].to_pylist())
            for kind, key in zip(*columns, strict=True):
                found.setdefault(kind, []).append(key)
        return found

    @cached_property
    def _uses(self) -> Counter[PostId]:
        """How many statements cite each one in their proofs."""
        uses: Counter[PostId] = Counter()
        table = self._links
        for part in table.tables(["premise_id"]) if table is not None else ():
            uses.update(part["premise_id"].to_pylist())
        return uses
