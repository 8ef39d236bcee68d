r"""From a question in words and LaTeX to the vectors of a query.

::

    why is $\sqrt2$ irrational
      │ placeholders         why is FORMULA_0 irrational
      │ AMR parser           (r / rational :polarity - :domain (f / FORMULA_0) ...)
      │ trees, fusion        FORMULA_0 with its operator and layout tree
      │ vocabulary           arrays with the numbers of the prepared graphs
      ▼ encoder              F0 S0 D: one vector each

Each step is the one that the posts went through; only the formula index, which cannot
know a formula that was typed a moment ago, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import torch

from mathamr_kedro import formula
from mathamr_kedro.amr.chunking import MAX_CHUNK_TOKENS
from mathamr_kedro.amr.graphs import ParseFailure
from mathamr_kedro.amr.texts import ParsedText
from mathamr_kedro.corpus import FormulaMarks, clean_text
from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.graph.batches import batch_graph
from mathamr_kedro.graph.penman_records import GraphRecord
from mathamr_kedro.graph.record_arrays import RecordArrays
from mathamr_kedro.graph.tensors import FORMULA, GraphArrays
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.records import CleanText
from mathamr_kedro.search.captions import Captions, caption_nodes
from mathamr_kedro.search.encoding import by_number
from mathamr_kedro.search.post_vectors import PostEntry, Vectors, scale_to_length_one

QUERY = "query"
"""Key of a typed query."""

ParseTexts: TypeAlias = Callable[[Sequence[str]], Sequence[ParsedText | ParseFailure]]


class EncodedQuery(NamedTuple):
    """The vectors of a query, what its nodes are, and what was hard to read."""

    entry: PostEntry
    captions: Captions
    warnings: tuple[str, ...] = ()


class QueryEncoder:
    """Encodes queries as the posts of an index were encoded.

    Args:
        parse: texts with placeholders to AMR, as
            :class:`~mathamr_kedro.amr.texts.ParseTexts`.
        arrays: AMR records to arrays with the vocabulary of the prepared graphs.
        model: the encoder of the index.
        max_tokens: limit of a chunk of ``parse``.
    """

    def __init__(
        self,
        parse: ParseTexts,
        arrays: RecordArrays,
        model: MathAMRPlus,
        max_tokens: int = MAX_CHUNK_TOKENS,
    ) -> None:
        self._parse, self._arrays, self._model = parse, arrays, model
        self._max_tokens = max_tokens

    def encode_text(self, text: str) -> EncodedQuery:
        """Encode words with formulas between dollars.

        Raises:
            MalformedInputError: there is neither a word nor a formula.
        """
        clean, _ = clean_text("", text, QUERY, lambda formula_id: None, "text")
        return self._encode(clean, text)

    def encode_formula(self, latex: str) -> EncodedQuery:
        """Encode one formula.

        Raises:
            MalformedInputError: it is empty.
        """
        marks = FormulaMarks()
        clean = marks.place(marks.mark(latex), QUERY)
        if not clean.formula_map:
            raise MalformedInputError(f"Expected LaTeX to search for (got {latex!r})")
        return self._encode(clean, latex)

    def _encode(self, clean: CleanText, source: str) -> EncodedQuery:
        (parsed,) = self._parse([clean.text])
        if isinstance(parsed, ParseFailure):
            raise MalformedInputError(
                f"Expected words or formulas between dollars (got {source!r}: "
                f"{parsed.detail})"
            )
        record = GraphRecord(
            QUERY, parsed.graph, "topic", clean.formula_map, parsed.missing
        )
        graph = self._arrays(record)
        formulas = by_number(clean.formula_map)
        kinds = graph.representative_kind.tolist()
        numbers = graph.representative_number.tolist()
        known = [
            formulas[n] for k, n in zip(kinds, numbers, strict=True) if k == FORMULA
        ]
        entry = PostEntry(
            QUERY,
            "topic",
            self._compute(graph),
            kinds,
            numbers,
            [m.formula_id for m in known],
            [m.visual_id for m in known],
        )
        captions = caption_nodes(clean.text, clean.formula_map, kinds, self._max_tokens)
        return EncodedQuery(entry, captions, _find_problems(clean, parsed))

    def _compute(self, graph: GraphArrays) -> Vectors:
        model = self._model
        device = model.head.inner.weight.device
        batch = batch_graph(graph, self._arrays.schema).to(device)
        with torch.no_grad():
            vectors = model.encode(batch, model.prepare(batch))
        return scale_to_length_one(vectors.float().cpu().numpy()).astype(np.float32)


def _find_problems(clean: CleanText, parsed: ParsedText) -> tuple[str, ...]:
    """Say what of a query could not be read as it stands."""
    problems = []
    for mention in clean.formula_map:
        trees = formula.trees_from_latex(mention.latex)
        if trees.problems:
            reasons = ", ".join(sorted(trees.problems))
            problems.append(
                f"${mention.latex}$ was read as far as it goes ({reasons}); "
                "`mathamr trees` shows how"
            )
    problems += [
        f"a part of the text was left out: {f.detail}" for f in parsed.failures
    ]
    return tuple(problems)
