"""Searching for statements: those of some kinds alone, and what is known of each.

::

    lemma 10.20.1 (Nakayama's lemma), Nakayama's lemma; used by 12 statements
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.types import PostId
from mathamr_kedro.graph import POST_TYPES, GraphRecord
from mathamr_kedro.runs import PostSearch
from mathamr_kedro.search import EncodedQuery, ScorePart

if TYPE_CHECKING:
    from mathamr_kedro.datasets import ShardedTable


class StatementSearch:
    """Finds posts by a system; knows which of them are statements.

    Args:
        catalog: of the environment; its statements may be missing.
        search: finds posts of any kind.
    """

    def __init__(self, catalog: Any, search: PostSearch) -> None:
        self._catalog, self._search = catalog, search

    @property
    def system(self) -> str:
        """The one that is asked where none is named."""
        return self._search.system

    @property
    def systems(self) -> Mapping[str, str]:
        """All that can be asked, and what they are."""
        return self._search.systems

    @property
    def find_graph(self) -> Callable[[PostId], GraphRecord | None]:
        """Gives the math graphs of posts."""
        return self._search.find_graph

    def __call__(
        self,
        query: EncodedQuery,
        top: int,
        post_types: Sequence[str] | None = None,
        system: str | None = None,
    ) -> Hits:
        """Return the best posts.

        Args:
            query: encoded.
            top: how many.
            post_types: types of post, or kinds of statement such as ``lemma``.
            system: how they are found; the usual one if ``None``.

        Raises:
            ConfigurationError: there is neither such a type nor such a kind, or no such
                system.
        """
        asked = post_types or ()
        kinds = [name for name in asked if name not in POST_TYPES]
        if not kinds:
            return self._search(query, top, post_types, system)
        for kind in kinds:
            if kind not in self._posts_by_kind:
                known = [*sorted(self._posts_by_kind), *POST_TYPES]
                raise ConfigurationError(
                    f"Expected a type of post or a kind of statement (got {kind!r})"
                    f"{suggest(kind, known)} Known: {', '.join(known)}"
                )
        types = [name for name in asked if name in POST_TYPES] or None
        wanted = {key for kind in kinds for key in self._posts_by_kind[kind]}
        fetch, limit = 4 * top, len(self._search.store.places)
        while True:
            # What is fused or mixed is cut before it is filtered: cut it later.
            self._search.deepen(fetch)
            found = self._search(query, fetch, types, system)
            places = [i for i, key in enumerate(found.ids) if key in wanted]
            if len(places) >= top or fetch >= limit:
                return found.take(places).top(top)
            fetch = min(8 * fetch, limit)

    def explain(
        self,
        query: EncodedQuery,
        post_id: PostId,
        post_types: Sequence[str] | None = None,
        system: str | None = None,
    ) -> tuple[ScorePart, ...]:
        """Return what each system gives to the score of a post."""
        types = [name for name in post_types or () if name in POST_TYPES] or None
        return self._search.explain(query, post_id, types, system)

    def describe(self, ids: Collection[PostId]) -> Mapping[PostId, Mapping[str, Any]]:
        """Return kind, number, name and section, and how many statements use each."""
        table = self._load("statements")
        rows = table.find_all("post_id", ids) if table is not None else {}
        return {
            key: {
                "kind": row.kind,
                "number": row.number,
                "name": row.name,
                "section": row.section,
                "used_by": self._uses[key],
            }
            for key, row in rows.items()
        }

    @cached_property
    def _posts_by_kind(self) -> Mapping[str, list[PostId]]:
        found: dict[str, list[PostId]] = {}
        table = self._load("statements")
        for part in table.tables(["kind", "post_id"]) if table is not None else ():
            columns = (part["kind"].to_pylist(), part["post_id"].to_pylist())
            for kind, key in zip(*columns, strict=True):
                found.setdefault(kind, []).append(key)
        return found

    @cached_property
    def _uses(self) -> Counter[PostId]:
        """How many statements cite each one in their proofs."""
        uses: Counter[PostId] = Counter()
        table = self._load("statement_links")
        for part in table.tables(["premise_id"]) if table is not None else ():
            uses.update(part["premise_id"].to_pylist())
        return uses

    def _load(self, name: str) -> ShardedTable | None:
        # Environments that were run by an earlier version have none.
        found: ShardedTable | None = None
        if self._catalog[name].exists():
            found = self._catalog.load(name)
        return found
