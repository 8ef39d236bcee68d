"""What every AMR parser of this project offers, whatever is inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from mathamr_kedro.amr.graphs import AMRGraph, ParseFailure


class Chunk(NamedTuple):
    """Consecutive sentences of one text, formulas as ``FORMULA_n``."""

    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """The sentences as one line.

        >>> Chunk(("Let FORMULA_0 be prime.", "Prove it.")).text
        'Let FORMULA_0 be prime. Prove it.'
        """
        return " ".join(self.sentences)


class AMRParser(Protocol):
    """A parser of chunks.

    ``parse_chunks`` returns one result per chunk, in order: a connected graph whose
    formula nodes have the placeholder as concept, or the failure of that chunk. It may
    raise when a whole batch fails; the caller then halves the batch
    (:func:`mathamr_kedro.amr.documents.parse_isolating`). ``TimeoutError`` and
    ``WorkerError`` become the reasons ``timeout`` and ``worker_died``.

    The root of a chunk of several sentences is ``multi-sentence`` (or ``document``)
    with one sentence graph per ``:snt1, :snt2, ...``.
    """

    name: str

    def parse_chunks(self, chunks: Sequence[Chunk]) -> list[AMRGraph | ParseFailure]:
        """Parse a batch."""
        ...
