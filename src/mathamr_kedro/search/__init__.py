"""From vectors to ranked lists.

::

    encoding      prepared graphs ──> vectors ──> store
    store         the vectors of all posts; commits that survive kills
      snapshots     all of one commit, whatever a writer does meanwhile
      store_state   store.json: the files that count, with their seals
      store_files   segments and changes
      store_mending damage: finding it, leaving it out
      post_vectors  several vectors of each post, with kinds and ids
    sizes         vectors and bytes by type of post
    engines       an index of a store: exact, edge or server
    strategies    how posts and formulas are found in an index
    queries       words and LaTeX ──> vectors of a query or of a new post
    searcher      ask an index in words
      finders       what it asks
      answers       what was found, for people
      explanation   which node of a query matched which node of a post
      heatmap       the same as a picture (matplotlib; not loaded here)
    living        add, replace and delete posts of an index
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
    encode_collection,
    fingerprint_encoder,
)
from mathamr_kedro.search.engines import (
    EXACT,
    EngineConfig,
    ExactIndex,
    ExactSpace,
    IndexSize,
    SearchMode,
    VectorIndex,
    open_index,
)
from mathamr_kedro.search.explanation import Explanation, ScorePart, Term, explain
from mathamr_kedro.search.living import AddedPosts, LivingIndex
from mathamr_kedro.search.post_vectors import PostEntry, PostVectors, Vectors
from mathamr_kedro.search.queries import EncodedQuery, QueryEncoder
from mathamr_kedro.search.searcher import Searcher
from mathamr_kedro.search.sizes import compute_bytes, count_by_type
from mathamr_kedro.search.store import VectorStore
from mathamr_kedro.search.store_mending import verify_store
from mathamr_kedro.search.store_state import Dtype
from mathamr_kedro.search.strategies import Strategy, find_formulas, find_posts

__all__ = [
    "EXACT",
    "AddedPosts",
    "Answer",
    "CollectionGraphs",
    "Dtype",
    "EncodeRanges",
    "EncodedQuery",
    "EncodingConfig",
    "EngineConfig",
    "ExactIndex",
    "ExactSpace",
    "Explanation",
    "IndexSize",
    "LivingIndex",
    "PostEntry",
    "PostVectors",
    "QueryEncoder",
    "Result",
    "ScorePart",
    "SearchMode",
    "Searcher",
    "Strategy",
    "Term",
    "VectorIndex",
    "VectorStore",
    "Vectors",
    "compute_bytes",
    "count_by_type",
    "encode_collection",
    "explain",
    "find_formulas",
    "find_posts",
    "fingerprint_encoder",
    "open_index",
    "verify_store",
]
