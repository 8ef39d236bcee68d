"""What belongs to the benchmark suite: one entry of ``conf/benchmarks.yml`` each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import yaml

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError, suggest
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.evaluation.metrics import Averaging, Protocol, protocol_of

_GROUP = "benchmarks"
_GUESSED = f"conf/<env>/parameters/{_GROUP}.yml"
"""Where parameters of stages stand; the suite has a file of its own."""
_HEADLINES = 2


@dataclass(frozen=True)
class Benchmark:
    """Topics with judgments, and how runs on them are scored."""

    title: str
    """Heading of its column."""
    protocol: str
    """Of :func:`~mathamr_kedro.evaluation.metrics.protocol_of`."""
    measures: tuple[str, ...]
    """The first two are the headline: tested, and in the overview."""
    reference: str
    """Pattern of systems; the best of them is what all others are compared with."""
    environment: str = ""
    """Whose runs are scored; empty: ``qrels`` and ``runs`` say it all."""
    variable: str = ""
    """Environment variable that names the folder of the data; empty: none is needed."""
    task: Literal[1, 2] = 1
    """Of the environment: answers or documents, formulas."""
    topic_sets: tuple[str, ...] = ()
    """Of the environment, scored together."""
    average: Averaging = "judged"
    depth: int = 1000
    """Results of a topic that count."""
    queries: int = 0
    """Topics that should count; 0: not known."""
    rows: Mapping[str, str] = field(default_factory=dict)
    """Systems to the names of their rows, where they differ."""
    qrels: str = ""
    """Judgments of a benchmark without an environment, below the folder of the data."""
    runs: tuple[str, ...] = ()
    """Published run files beside ours, as patterns below the folder of the data."""
    in_mean: bool = True
    """Whether the mean over benchmarks counts it."""
    name: str = ""
    """Key of the entry."""

    def __post_init__(self) -> None:
        if not self.measures:
            raise ConfigurationError("Expected at least one measure (got none)")
        if bool(self.environment) == bool(self.qrels):
            raise ConfigurationError(
                "Expected either an environment or qrels (got "
                f"{self.environment!r} and {self.qrels!r})"
            )
        if (self.qrels or self.runs) and not self.variable:
            raise ConfigurationError(
                "Expected a variable that names the folder of qrels and runs (got none)"
            )
        if self.environment and not self.topic_sets:
            raise ConfigurationError("Expected at least one topic set (got none)")

    @classmethod
    def read_all(cls, file: Path) -> dict[str, Benchmark]:
        """Read the suite: benchmarks by name, in the order of the file.

        Raises:
            MissingInputError: there is no such file.
            ConfigurationError: an entry has an unknown, missing or ill-typed key.
        """
        try:
            entries = yaml.safe_load(file.read_text(encoding="utf-8"))
        except FileNotFoundError as exc:
            raise MissingInputError(
                f"No benchmark suite {str(file)!r}; conf/benchmarks.yml of the project "
                "is one (docs/benchmarks.md)"
            ) from exc
        except yaml.YAMLError as exc:
            raise ConfigurationError(f"Expected YAML in {str(file)!r} ({exc})") from exc
        if not isinstance(entries, dict):
            raise ConfigurationError(
                f"Expected benchmarks by name in {str(file)!r} (got {entries!r})"
            )
        return {str(name): cls._read(str(name), v, file) for name, v in entries.items()}

    @classmethod
    def _read(cls, name: str, values: Mapping[str, object], file: Path) -> Benchmark:
        try:
            found = read_parameters(cls, values, where=f"{_GROUP}.{name}")
            return replace(found, name=name)
        except ConfigurationError as exc:
            text = str(exc).replace(_GUESSED, str(file))
            raise ConfigurationError(text) from exc

    @staticmethod
    def choose(
        suite: Mapping[str, Benchmark], wanted: Iterable[str]
    ) -> list[Benchmark]:
        """Return those with the names that are asked for, or all.

        Raises:
            ConfigurationError: the suite has no such name.
        """
        names = list(wanted)
        for name in names:
            if name not in suite:
                raise ConfigurationError(
                    f"Expected some of {list(suite)} as benchmarks (got {name!r})"
                    f"{suggest(name, suite)}"
                )
        return [b for name, b in suite.items() if not names or name in names]

    @property
    def headline(self) -> tuple[str, ...]:
        """The measures that are tested and stand in the overview."""
        return tuple(m.name for m in self.make_protocol().measures[:_HEADLINES])

    def make_protocol(self) -> Protocol:
        """Return how its runs are scored."""
        chosen = protocol_of(self.protocol).with_measures(self.measures)
        if self.task == 2 and self.protocol == "trec":  # ranks visual ids
            chosen = replace(chosen, task="2")
        return replace(chosen, average=self.average, depth=self.depth)

    def name_row(self, system: str) -> str:
        """Return the name of a system's row."""
        return self.rows.get(system, system)

    def choose_reference(self, means: Mapping[str, float]) -> str | None:
        """Return the best system that the pattern names; the first one of several.

        Args:
            means: of the first measure, by row.
        """
        known = [row for row in means if fnmatchcase(row, self.reference)]
        return max(known, key=lambda row: means[row], default=None)
