r"""The search of a project as a transformer of PyTerrier.

::

    retriever = MathAmrRetriever(open_search(env="demo"), top=100)
    (retriever % 10).search(r"is $\sqrt p$ irrational?")
    pt.Experiment([retriever, bm25], topics, qrels, ["ndcg_cut_10", "map"])

Java is not needed: PyTerrier starts it only for Terrier's own index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyterrier as pt

from mathamr_kedro.search import Searcher

_COLUMNS = ["docno", "score", "rank"]


class MathAmrRetriever(pt.Transformer):
    """Finds posts for the column ``query``: words, with formulas between dollars.

    Args:
        searcher: as :func:`mathamr_kedro.project.search.open_search` opens it, with
            the system, or the fusion, that shall be asked.
        top: results of a query.
        post_types: types of post to return; those of the system if ``None``.
    """

    def __init__(
        self,
        searcher: Searcher,
        top: int = 1000,
        post_types: Sequence[str] | None = None,
    ) -> None:
        super().__init__()
        self._searcher, self._top, self._types = searcher, top, post_types

    def transform(self, queries: pd.DataFrame) -> pd.DataFrame:
        """Return the results of all queries, the best of each first."""
        pt.validate.query_frame(queries, extra_columns=["query"])
        parts = [self._rank(row) for row in queries.to_dict("records")]
        if not parts:
            return pd.DataFrame(columns=[*queries.columns, *_COLUMNS])
        return pd.concat(parts, ignore_index=True)

    def _rank(self, row: Mapping[Any, Any]) -> pd.DataFrame:
        hits, _ = self._searcher.rank(row["query"], self._top, self._types)
        found = pd.DataFrame(
            {
                "docno": list(hits.ids),
                "score": hits.scores,
                "rank": range(len(hits.ids)),
            }
        )
        return found.assign(**row)[[*row, *_COLUMNS]]

    def __repr__(self) -> str:
        return f"MathAmrRetriever(top={self._top})"
