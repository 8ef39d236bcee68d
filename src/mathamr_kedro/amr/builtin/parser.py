"""The ``builtin`` parser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mathamr_kedro.amr.builtin.assembly import parse_skeleton
from mathamr_kedro.amr.builtin.coreference import share_names
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import parse_sentences
from mathamr_kedro.amr.builtin.tables import TABLES, Models
from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.graphs import AMRGraph, ParseFailure
from mathamr_kedro.amr.merging import merge_graphs

_WORD = re.compile(r"\w")


class BuiltinParser:
    """Parses on any machine, without a download.

    Args:
        tables: folder of the learned tables, by default those of the package.
    """

    name = "builtin"

    def __init__(self, tables: Path = TABLES) -> None:
        self._models = Models.load(tables)

    def parse_chunks(self, chunks: Sequence[Chunk]) -> list[AMRGraph | ParseFailure]:
        """Parse a batch of chunks; a chunk without a word fails as ``empty_text``."""
        kept = [[s for s in chunk.sentences if _WORD.search(s)] for chunk in chunks]
        parses = parse_sentences([s for sentences in kept for s in sentences])
        results: list[AMRGraph | ParseFailure] = []
        for chunk, sentences in zip(chunks, kept, strict=True):
            graphs = [
                parse_skeleton(Skeleton(next(parses)), self._models) for _ in sentences
            ]
            if not graphs:
                results.append(
                    ParseFailure("empty_text", f"no words in {chunk.text!r}")
                )
            else:
                whole = graphs[0] if len(graphs) == 1 else merge_graphs(graphs)
                results.append(share_names(whole))
        return results
