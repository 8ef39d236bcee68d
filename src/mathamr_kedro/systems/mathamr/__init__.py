"""MathAMR: formulas in their sentences, AMR with operator trees as strings.

Mansouri, Oard and Zanibbi 2022. What each module does, in the order of the steps::

    linearisation    math graph ──> string, depth first          ┐ of queries and
    contexts         formula in its post ──> text, five forms    ┘ candidates
    triples          judgments ──> (query, candidate, score), folds of topics
    training         a text model (encoder) fine-tuned on them, one for each fold
    search           vectors of all texts, cosine, reranking, fusion with a first run
    system           the four steps; config has their parameters
"""

from mathamr_kedro.systems.mathamr.config import MathAMRConfig, Representation
from mathamr_kedro.systems.mathamr.system import MathAMR

__all__ = ["MathAMR", "MathAMRConfig", "Representation"]
