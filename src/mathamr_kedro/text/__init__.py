"""Texts as terms and as vectors.

============  ====================================================================
terms         words, tokens of LaTeX, tuples and patterns of trees, edges of graphs
TermIndex     BM25 over any terms
TextModel     sentence encoders by name (MiniLM, mpnet): their folders and downloads
============  ====================================================================

:class:`SentenceEncoder` needs the extra ``text``. Names are imported when
they are first used: listing models does not load BM25.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.text.bm25 import TermIndex
    from mathamr_kedro.text.models import (
        ADAPTERS,
        TEXT_MODELS,
        TextModel,
        explain_absence,
        find_text_model,
        get_text_model,
        identify_adapter,
    )
    from mathamr_kedro.text.sentence_encoder import SentenceEncoder
    from mathamr_kedro.text.terms import (
        list_graph_terms,
        list_ngrams,
        list_patterns,
        list_tuples,
        measure_math_share,
        pair_terms,
        split_latex,
        split_text,
    )

__all__ = [
    "ADAPTERS",
    "TEXT_MODELS",
    "SentenceEncoder",
    "TermIndex",
    "TextModel",
    "explain_absence",
    "find_text_model",
    "get_text_model",
    "identify_adapter",
    "list_graph_terms",
    "list_ngrams",
    "list_patterns",
    "list_tuples",
    "measure_math_share",
    "pair_terms",
    "split_latex",
    "split_text",
]

__getattr__, __dir__ = load_lazily(__name__, __file__)
