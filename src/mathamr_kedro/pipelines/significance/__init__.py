"""Significance: recorded results to tables with tests, and plots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from mathamr_kedro.base.parameters import StageParameters
from mathamr_kedro.evaluation.stats import TestConfig
from mathamr_kedro.evaluation.tables import PaperTable
from mathamr_kedro.experiments.examples import ExamplesConfig


@dataclass(frozen=True)
class SignificanceConfig(StageParameters):
    """Parameters of the stage, ``conf/<env>/parameters/significance.yml``."""

    STAGE: ClassVar = "significance"

    tests: TestConfig = field(default_factory=TestConfig)
    topic_set: str | None = None
    """Of an experiment's tables; ``None``: the last edition of ARQMath, or the only."""
    published: bool = False
    """Put our systems beside the published ones of Tables 4.19 and 4.21."""
    papers: Mapping[str, PaperTable] = field(default_factory=dict)
    """Tables of other papers by name, e.g. ``003.2``; written if the experiment, or
    the evaluation, has a figure of them."""
    examples: ExamplesConfig = field(default_factory=ExamplesConfig)
