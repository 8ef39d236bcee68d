"""MathAMR+: posts by the vectors of their graphs (the thesis' own system).

::

    system          prepared, trained, indexed, opened
    config          parameters of the stage indexing
    encoder         a trained encoder, to be called
    encoding        prepared graphs ──> vectors ──> stores
    query_encoder   words and LaTeX ──> vectors of a query or of a new post
    strategies      how posts and formulas are found, by MaxSim and more
    index           all of it as an index to ask; what a score is the sum of
    report          what was learnt, as a page and a picture
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.systems.mathamr_plus.config import IndexingConfig
    from mathamr_kedro.systems.mathamr_plus.encoder import Encoder
    from mathamr_kedro.systems.mathamr_plus.encoding import (
        CollectionVectors,
        EncodingConfig,
        encode_graphs,
        open_vectors,
    )
    from mathamr_kedro.systems.mathamr_plus.index import MathAMRPlusIndex
    from mathamr_kedro.systems.mathamr_plus.query_encoder import (
        EncodeWords,
        QueryEncoder,
    )
    from mathamr_kedro.systems.mathamr_plus.strategies import Strategy, find_questions
    from mathamr_kedro.systems.mathamr_plus.system import MathAMRPlus

__all__ = [
    "CollectionVectors",
    "EncodeWords",
    "Encoder",
    "EncodingConfig",
    "IndexingConfig",
    "MathAMRPlus",
    "MathAMRPlusIndex",
    "QueryEncoder",
    "Strategy",
    "encode_graphs",
    "find_questions",
    "open_vectors",
]

# A machine that only trains has no parser and no Qdrant.
__getattr__, __dir__ = load_lazily(__name__, __file__)
