"""MathAMR+: posts by the vectors of their graphs (the thesis' own system).

::

    encoder         a trained encoder, to be called
    encoding        prepared graphs ──> vectors ──> stores, by each encoder
    query_encoder   words and LaTeX ──> vectors of a query or of a new post
    strategies      how posts and formulas are found, by MaxSim and more
    index           all of it as an index to ask; what a score is the sum of
"""

from mathamr_kedro.systems.mathamr_plus.encoder import Encoder
from mathamr_kedro.systems.mathamr_plus.encoding import (
    CollectionVectors,
    Encoding,
    EncodingConfig,
    VectorStores,
)
from mathamr_kedro.systems.mathamr_plus.index import NAME, MathAMRPlusIndex
from mathamr_kedro.systems.mathamr_plus.query_encoder import EncodeWords, QueryEncoder
from mathamr_kedro.systems.mathamr_plus.strategies import (
    Strategy,
    find_questions,
)

__all__ = [
    "NAME",
    "CollectionVectors",
    "EncodeWords",
    "Encoder",
    "Encoding",
    "EncodingConfig",
    "MathAMRPlusIndex",
    "QueryEncoder",
    "Strategy",
    "VectorStores",
    "find_questions",
]
