"""All rankings of an environment, asked for one query at a time by their names.

The ranking is that of the run which evaluation writes for the same query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.systems.base import Collection, Index, PostTypes
from mathamr_kedro.systems.fusion import Fusion
from mathamr_kedro.systems.query import Query, Target
from mathamr_kedro.systems.rankings import Found, Ranking
from mathamr_kedro.systems.registry import BASELINES_OF, LEARNING


class Ensemble:
    """Asks rankings and their fusions by name.

    Args:
        rankings: of single systems; an index is opened when it is first asked.
        fusions: of these, and of fusions before them; those of which a part is missing
            cannot be asked.
        defaults: what is asked for each target if nothing is named.
    """

    def __init__(
        self,
        rankings: Iterable[Ranking],
        fusions: Sequence[Fusion],
        defaults: Mapping[Target, str],
    ) -> None:
        self.defaults, self._all_fusions = dict(defaults), tuple(fusions)
        single = [replace(r, open=_once(r.open)) for r in rankings]
        self._rankings: dict[Target, dict[str, Ranking]] = {}
        self._fusions = {fusion.name: fusion for fusion in fusions}
        for target in self.defaults:
            known = {r.name: r for r in single if target in r.finds}
            self._rankings[target] = known
            for fusion in fusions:
                if {*fusion.of} <= known.keys():
                    data = Collection(rankings=known.__getitem__)
                    find = partial(fusion.open, data, Path(), Path())
                    finds = frozenset({target})
                    known[fusion.name] = Ranking(
                        fusion.name, "fusion", finds, _once(find), fusion.depth
                    )
        for target, name in self.defaults.items():
            self.choose(target, name)

    def list_systems(self, target: Target) -> dict[str, str]:
        """Return all that can be asked, and what they are."""
        return {name: r.kind for name, r in self._rankings[target].items()}

    def choose(self, target: Target, system: str | None = None) -> str:
        """Return the ranking to ask: the default, if none is named."""
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
        """Load what a ranking, or the default one, needs for its first query."""
        for name in self._list_parts(target, self.choose(target, system)):
            self._rankings[target][name].open().warm_up()

    def find(
        self,
        query: Query,
        top: int = 0,
        system: str | None = None,
        types: PostTypes = None,
        depth: int = 0,
    ) -> Found:
        """Return the best posts or formulas, perhaps more than are asked for.

        Args:
            query: what is asked.
            top: how many at least; as many as evaluation asks for if 0.
            system: who ranks; the default if ``None``.
            types: types of post; those of the system if ``None``.
            depth: results of each part of a system, if more than usual.
        """
        chosen = self.choose(query.target, system)
        ranking = self._rankings[query.target][chosen]
        return ranking.find(query, types, depth, 0 if chosen in self._fusions else top)

    def _list_parts(self, target: Target, system: str) -> Iterator[str]:
        if system not in self._fusions:
            yield system
        else:
            for part in self._fusions[system].of:
                yield from self._list_parts(target, part)


def _once(open_index: Callable[[], Index]) -> Callable[[], Index]:
    """Return a function that opens an index when it is first called."""
    lock, opened = Lock(), list[Index]()

    def find() -> Index:
        with lock:
            if not opened:
                opened.append(open_index())
            return opened[0]

    return find
