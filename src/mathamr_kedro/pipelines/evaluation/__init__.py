"""Evaluation: an index, baselines and judgments to runs, scores and a report."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import StageParameters, check_range
from mathamr_kedro.evaluation.metrics import Averaging, Protocol, protocol_of
from mathamr_kedro.runs.fusions import explain_parts
from mathamr_kedro.systems import (
    BASELINES,
    LEARNING,
    Fusion,
    find_missing,
    make_baseline,
)
from mathamr_kedro.systems.mathamr_plus import Strategy
from mathamr_kedro.systems.registry import OWN
from mathamr_kedro.systems.search_config import SearchConfig, name_rankings

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class EvaluationConfig(StageParameters):
    """The systems that are compared, and how they are scored."""

    STAGE: ClassVar = "evaluation"

    strategies: tuple[Strategy, ...] = ()
    """For posts; empty: only that of the indexing stage."""
    baselines: tuple[str, ...] = ()
    optional_baselines: tuple[str, ...] = ()
    """Skipped with a warning if their package is missing, as are their fusions."""
    run_files: Mapping[str, str] = field(default_factory=dict)
    """Systems of others: a name to a run file, in TREC's or ARQMath's form."""
    fusions: tuple[Fusion, ...] = ()
    searches: bool = False
    """Whether what people's searches ask (``indexing.search``) is compared, too."""
    depth: int = 1000
    """Results per topic; the lab allows 1000."""
    measures: tuple[str, ...] = ("nDCG'", "MAP'", "P'@10", "Bpref")
    protocol: Literal["arqmath", "trec", "ntcir"] = "arqmath"
    """``trec``: relevant from grade 1, unjudged documents are not relevant; ``ntcir``:
    formula browsing of NTCIR-12, relevant from grade 3 (full) or 1 (partial)."""
    average: Averaging = "judged"
    """Over all judged topics (official), or those with a ``relevant`` document."""
    topic_sets: Mapping[str, tuple[str, ...]] | str = field(default_factory=dict)
    """Name to patterns of topic ids, or one name for all; empty: by edition."""
    formula_shares: tuple[float, ...] = ()
    """Parts of each topic set of Task 1 that are scored, too: questions, and relevant
    answers, of which more than these shares are formulas (MaRF, Tables 3 and 4)."""
    queries_per_batch: int = 32
    text_model: str | None = None
    """Folder of the sentence encoder of ``text``, ``text_title``, ``text_question``."""

    def __post_init__(self) -> None:
        if self.depth < 1 or self.queries_per_batch < 1:
            raise ConfigurationError(
                "Expected depth and queries_per_batch of at least 1 (got "
                f"{self.depth!r}, {self.queries_per_batch!r})"
            )
        check_range(self, "formula_shares", least=0, below=1)
        self.choose_protocol(1)  # refuses unknown measures
        self._check_systems()

    def check_machine(self) -> None:
        """Refuse baselines whose model is not here; optional ones are skipped then."""
        for baseline, reason in find_missing(self.baselines, self.text_model).items():
            raise ConfigurationError(
                f"evaluation.baselines: {baseline!r} cannot be used: {reason}; or "
                "name it in evaluation.optional_baselines, which skips it then"
            )

    def _check_systems(self) -> None:
        """Refuse two systems of one name, and fusions of systems that are not."""
        strategies = self.list_strategies(Strategy())
        named = dict.fromkeys((*self.baselines, *self.optional_baselines))
        found = {name: make_baseline(name, self.text_model).finds for name in named}
        tasks = (
            {*strategies, *(name for name, finds in found.items() if "posts" in finds)},
            {OWN, *(name for name, finds in found.items() if "formulas" in finds)},
        )
        papers = {
            part
            for fusion in self.fusions
            for part in fusion.of
            if part.partition("/")[0] in LEARNING
        }
        # Which task they serve, and by which parts, is known when they are opened.
        papers |= {*self.run_files}
        tasks = (tasks[0] | papers, tasks[1] | papers)
        for fusion in self.fusions:
            if not fusion.name or not fusion.of:
                raise ConfigurationError(
                    "Expected a name and the systems ('of') of each fusion (got "
                    f"{fusion!r}) (evaluation.fusions)"
                )
            if any(fusion.name in systems for systems in tasks):
                raise ConfigurationError(
                    f"Expected systems of different names (got two {fusion.name!r}) "
                    "(evaluation.fusions)"
                )
            having = [systems for systems in tasks if {*fusion.of} <= systems]
            if not having:
                raise explain_parts(fusion, tasks)
            for systems in having:
                systems.add(fusion.name)

    def choose_protocol(self, task: int) -> Protocol:
        """Return how runs of a task are scored."""
        chosen = protocol_of(str(task) if self.protocol == "arqmath" else self.protocol)
        if task == 2 and self.protocol != "ntcir":  # visual ids, whatever is relevant
            chosen = replace(chosen, task="2")
        chosen = chosen.with_measures(self.measures)
        return replace(chosen, average=self.average, depth=self.depth)

    def list_strategies(self, default: Strategy) -> dict[str, Strategy]:
        """Return the strategies by the names of their rankings."""
        asked = [part for fusion in self.fusions for part in fusion.of]
        return name_rankings(self.strategies, default, asked, self.depth)

    def add_search(self, search: SearchConfig) -> EvaluationConfig:
        """Return the same with what searches ask, if that is to be compared."""
        if not self.searches or search.system != search.fusion.name:
            return self
        parts = [
            part if part in BASELINES else f"{OWN}/{part}" for part in search.fusion.of
        ]
        words = [part for part in parts if part in BASELINES]
        return replace(
            self,
            baselines=tuple(dict.fromkeys((*self.baselines, *words))),
            fusions=(*self.fusions, replace(search.fusion, of=tuple(parts))),
        )

    def list_baselines(self) -> list[str]:
        """Return the baselines that can be used here."""
        missing = self._find_missing()
        return [b for b in self.baselines + self.optional_baselines if b not in missing]

    def list_fusions(self) -> list[Fusion]:
        """Return the fusions that can be made here, none deeper than the runs."""
        missing = self._find_missing()
        skipped = [f.name for f in self.fusions if missing.keys() & {*f.of}]
        if skipped:
            logger.warning(
                "Skipped %s, which need %s (%s)",
                ", ".join(skipped),
                ", ".join(sorted(missing)),
                "; ".join(sorted({*missing.values()})),
            )
        return [
            replace(f, depth=min(f.depth, self.depth))
            for f in self.fusions
            if f.name not in skipped
        ]

    def _find_missing(self) -> dict[str, str]:
        """Return the optional baselines that cannot be used here, and why."""
        optional = [b for b in self.optional_baselines if b not in self.baselines]
        return find_missing(optional, self.text_model)
