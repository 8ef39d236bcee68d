"""From vectors to ranked lists.

::

    encoding      prepared graphs ──> vectors ──> store
    strategies    how posts and formulas are found in an index
    queries       words and LaTeX ──> vectors of a query or of a new post
    searcher      ask an index in words
      finders       what it asks
      answers       what was found, for people
      explanation   which node of a query matched which node of a post
      heatmap       the same as a picture (matplotlib; not loaded here)
    fusion        several runs fused into one (not loaded here)

::

    store = VectorStore(folder)
    index = open_index(EngineConfig("exact"), store, folder)
    hits = find_posts(index, queries, Strategy("maxsim", depth=10))
"""

from mathamr_kedro.search.answers import Answer, Result
from mathamr_kedro.search.encoding import (
    CollectionGraphs,
    EncodeRanges,
    EncodingConfig,
    checksum_encoder,
    encode_collection,
)
from mathamr_kedro.search.explanation import Explanation, ScorePart, Term, explain
from mathamr_kedro.search.queries import EncodedQuery, QueryEncoder
from mathamr_kedro.search.searcher import Searcher
from mathamr_kedro.search.strategies import Strategy, find_formulas, find_posts

__all__ = [
    "Answer",
    "CollectionGraphs",
    "EncodeRanges",
    "EncodedQuery",
    "EncodingConfig",
    "Explanation",
    "QueryEncoder",
    "Result",
    "ScorePart",
    "Searcher",
    "Strategy",
    "Term",
    "checksum_encoder",
    "encode_collection",
    "explain",
    "find_formulas",
    "find_posts",
]
