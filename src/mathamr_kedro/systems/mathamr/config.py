"""Parameters of MathAMR, below ``systems.mathamr``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.systems.base import FormulaTerms

Representation: TypeAlias = Literal[
    "amr_opt", "amr_latex", "text_opt", "text_latex", "opt"
]
"""What a formula and its context are written as: the rows of the paper's Table 1.

==============  ==================  ====================================
value           in the paper        "Find FORMULA_0" of ``x^2``
==============  ==================  ====================================
``amr_opt``     AMRText w. OPTText  ``find-01 you SUP x 2 imperative``
``amr_latex``   AMRText w. LaTeX    ``find-01 you x^2 imperative``
``text_opt``    RawText w. OPTText  ``Find SUP x 2``
``text_latex``  RawText w. LaTeX    ``Find $x^2$``
``opt``         OPTText             ``SUP x 2``
==============  ==================  ====================================
"""


@dataclass(frozen=True)
class ModelConfig:
    """Parameters that decide the weights; the paper's values if it has them."""

    text_model: str = "mpnet"
    """The encoder that is fine-tuned: a known name, or a folder."""
    representation: Representation = "amr_opt"
    folds: int = 5
    """Judged topics are dealt into so many parts; each is searched by a model that was
    trained on the others."""
    epochs: int = 50
    """0: the text model as it is."""
    batch_size: int = 16
    max_length: int = 128
    """Tokens of a text; the paper has 256 for ``text_opt``."""
    learning_rate: float = 2e-5

    def __post_init__(self) -> None:
        check_range(self, "epochs", least=0)
        check_range(self, "max_length", least=1)
        # The second loss compares pairs of a batch.
        check_range(self, "folds", "batch_size", least=2)


@dataclass(frozen=True)
class SearchConfig:
    """Parameters of the index and the search."""

    first_stage: FormulaTerms | Literal["none"] = "bm25_slt"
    """Run that is reranked and fused with its reranking; ``none``: only cosines."""
    runs: Mapping[str, str] = field(default_factory=dict)
    """Run files of Task 2, or names of BM25, by a name: reranked and fused too, but
    ``none``."""
    depth: int = 1000
    """Formulas of a run that are reranked, 1000 in the paper; fewer if the collection
    has not many more: reranking is to choose among them."""
    instances: int = 5
    """Formulas of each visual id that are compared, those with the first ids; the best
    counts. The lab assessed at most five. 0: all."""
    tasks: tuple[int, ...] = (2,)
    """2: formulas, as in the paper; 1: posts, as the authors did later
    (:class:`~mathamr_kedro.systems.mathamr.search.PostStrings`)."""

    def __post_init__(self) -> None:
        check_range(self, "instances", least=0)
        check_range(self, "depth", least=1)
        if 2 not in self.tasks or set(self.tasks) - {1, 2}:
            raise ConfigurationError(
                f"Expected tasks [2] or [1, 2] (got {list(self.tasks)!r})"
            )


@dataclass(frozen=True)
class MathAMRConfig:
    """All parameters."""

    model: ModelConfig = field(default_factory=ModelConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
