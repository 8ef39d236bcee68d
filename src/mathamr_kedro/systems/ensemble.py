"""All systems of an environment, asked for one query at a time by their names.

::

    with_question            a strategy of MathAMR+
    bm25, minilm_title ...   other systems
    marf, marf/context       a system of a paper, and a part of it
    mathamr_plus+bm25        a fusion of such systems

The ranking is that of the run which evaluation writes for the same query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, NamedTuple

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.systems.base import (
    Index,
    PostTypes,
    Query,
    ScorePart,
    Target,
    Term,
)
from mathamr_kedro.systems.fusion import Fusion
from mathamr_kedro.systems.registry import BASELINES_OF, LEARNING


class Member(NamedTuple):
    """A ranking of a system."""

    kind: str
    """What it is, for people: strategy, system, baseline."""
    finds: frozenset[Target]
    open: Callable[[], Index]
    form: str
    depth: int | None = None
    """How many it returns at least: scores that are mixed from several are cut then;
    ``None``: just those that are asked for."""


class Ensemble:
    """Asks systems and their fusions, and says what each gave to a score.

    Args:
        members: by name.
        fusions: of members, and of fusions before them; those of which a part is
            missing cannot be asked.
        defaults: what is asked for each target if no system is named.
        depth: results of each part of a fusion.
    """

    def __init__(
        self,
        members: Mapping[str, Member],
        fusions: Sequence[Fusion],
        defaults: Mapping[Target, str],
        depth: int = 1000,
    ) -> None:
        self._members, self._depth = members, depth
        self.defaults = dict(defaults)
        self._fusions: dict[Target, dict[str, Fusion]] = {}
        self._all_fusions = tuple(fusions)
        for target in self.defaults:
            known = {n for n, m in members.items() if target in m.finds}
            self._fusions[target] = {}
            for fusion in fusions:
                if {*fusion.of} <= known:
                    self._fusions[target][fusion.name] = fusion
                    known.add(fusion.name)
        self._opened: dict[str, Index] = {}
        self._opening = Lock()
        self._last: tuple[Query, PostTypes, dict[str, Hits]] | None = None
        self._split: dict[str, Mapping[str, Any]] = {}
        for target, name in self.defaults.items():
            self.choose(target, name)

    def list_systems(self, target: Target) -> dict[str, str]:
        """Return all that can be asked, and what they are."""
        kinds = {n: m.kind for n, m in self._members.items() if target in m.finds}
        return kinds | dict.fromkeys(self._fusions[target], "fusion")

    def choose(self, target: Target, system: str | None = None) -> str:
        """Return the system to ask: the default, if none is named."""
        chosen, known = system or self.defaults[target], self.list_systems(target)
        if chosen in known:
            return chosen
        parts = next((f.of for f in self._all_fusions if f.name == chosen), ())
        wrong = next((part for part in parts if part not in known), chosen)
        name = wrong.partition("/")[0]
        if name in LEARNING:
            raise ConfigurationError(
                f"The system {wrong!r} was not trained here to find {target}; train it "
                f"in an environment with its overlay, as `kedro run --env demo+{name}` "
                f"does (docs/systems/{name}.md)"
            )
        if wrong in BASELINES_OF[target]:
            raise ConfigurationError(
                f"The system {wrong!r} is not prepared; run `kedro run --pipelines "
                f"indexing --params 'evaluation.optional_baselines=[{wrong}]'`, which "
                "encodes and indexes all texts for it (`mathamr models` lists encoders)"
            )
        raise ConfigurationError(
            f"No system for {target} is named {wrong!r}{suggest(wrong, known) or '.'} "
            f"Known: {', '.join(known)} (indexing.search, evaluation.strategies, "
            "evaluation.fusions)"
        )

    def warm_up(self, target: Target, system: str | None = None) -> None:
        """Load what a system, or the default one, needs for its first query."""
        for name in self._list_parts(target, self.choose(target, system)):
            index: Any = self._open(name)
            if hasattr(index, "warm_up"):  # most are ready when they are open
                index.warm_up()

    def rank(
        self,
        query: Query,
        top: int | None = None,
        system: str | None = None,
        types: PostTypes = None,
        depth: int = 0,
    ) -> Hits:
        """Return the best posts or formulas, perhaps more than are asked for.

        Args:
            query: what is asked.
            top: how many at least; as many as evaluation asks for if ``None``.
            system: who ranks; the default if ``None``.
            types: types of post; those of the system if ``None``.
            depth: results of each part of a system, if more than usual.
        """
        chosen = self.choose(query.target, system)
        return self._ask(query, chosen, types, top, depth)[chosen]

    def explain(
        self,
        query: Query,
        key: str,
        system: str | None = None,
        types: PostTypes = None,
    ) -> tuple[ScorePart, ...]:
        """Return what gave how much to the score of a post, or of a visual id."""
        chosen = self.choose(query.target, system)
        if chosen in self._members:
            terms = self._explain(chosen, query, key)
            if terms:
                score = sum(term.weight * term.similarity for term in terms)
                return (ScorePart(chosen, score, score, terms),)
        last, lists = self._last, None
        if last is not None and last[0] is query and last[1] == types:
            lists = last[2] if chosen in last[2] else None
        lists = lists or self._ask(query, chosen, types)
        if chosen in self._members:
            return (self._explain_part(chosen, query, key, lists),)
        return self._explain_fusion(chosen, query, key, lists)

    def _explain_fusion(
        self, name: str, query: Query, key: str, lists: Mapping[str, Hits]
    ) -> tuple[ScorePart, ...]:
        fusion = self._fusions[query.target][name]
        if name not in self._split:
            self._split[name] = fusion.split([lists[part] for part in fusion.of])
        shares = self._split[name].get(key, [0.0] * len(fusion.of))
        return tuple(
            self._explain_part(part, query, key, lists)._replace(share=float(share))
            for part, share in zip(fusion.of, shares, strict=True)
        )

    def _explain_part(
        self, name: str, query: Query, key: str, lists: Mapping[str, Hits]
    ) -> ScorePart:
        part = ScorePart.of_score(name, _find_score(lists[name], key))
        if name not in self._members:
            return part._replace(parts=self._explain_fusion(name, query, key, lists))
        index: Any = self._open(name)
        terms = self._explain(name, query, key)
        if not hasattr(index, "explain_words"):  # it compares no words
            return part._replace(terms=terms)
        return part._replace(terms=terms, words=index.explain_words(query, key))

    def _ask(
        self,
        query: Query,
        system: str,
        types: PostTypes,
        top: int | None = None,
        depth: int = 0,
    ) -> dict[str, Hits]:
        """Return the list of a system, and of those that it is made of."""
        fusions = self._fusions[query.target]
        lists: dict[str, Hits] = {}

        def find(name: str, top: int | None) -> Hits:
            if name in lists:
                return lists[name]
            if name in fusions:
                parts = [find(part, None) for part in fusions[name].of]
                deep = max(depth, fusions[name].depth)
                lists[name] = replace(fusions[name], depth=deep).fuse(parts)
                return lists[name]
            member, index = self._members[name], self._open(name)
            wanted = max(depth, member.depth or self._depth)
            if member.depth is None and top is not None:
                wanted = top
            (prepared,) = index.prepare([query], member.form)
            (lists[name],) = index.rank([prepared], wanted, member.form, types)
            return lists[name]

        find(system, top)
        self._last, self._split = (query, types, lists), {}
        return lists

    def _explain(self, name: str, query: Query, key: str) -> tuple[Term, ...]:
        return self._open(name).explain(query, key, self._members[name].form)

    def _open(self, name: str) -> Index:
        with self._opening:
            if name not in self._opened:
                self._opened[name] = self._members[name].open()
            return self._opened[name]

    def _list_parts(self, target: Target, system: str) -> Iterator[str]:
        fusion = self._fusions[target].get(system)
        if fusion is None:
            yield system
        else:
            for part in fusion.of:
                yield from self._list_parts(target, part)


def _find_score(hits: Hits, key: str) -> float | None:
    """Return the score of a post or visual id in a list; ``None``: it is missing."""
    scores = zip(hits.judged_ids, hits.scores.tolist(), strict=True)
    return dict(scores).get(key)
