r"""From words and LaTeX to vectors: a query, or a post that comes later.

::

    why is $\sqrt2$ irrational
      │ placeholders         why is FORMULA_0 irrational
      │ AMR parser           (r / rational :polarity - :domain (f / FORMULA_0) ...)
      │ trees, fusion        FORMULA_0 with its operator and layout tree
      │ vocabulary           arrays with the numbers of the prepared graphs
      ▼ encoder              F0 S1 D: one vector each

Each step is the one that the posts of the collection went through; only the formula
index, which cannot know a formula that was typed a moment ago, is not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from mathamr_kedro import formula
from mathamr_kedro.amr import MAX_CHUNK_TOKENS, ParsedText, ParseFailure
from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.ragged import scale_to_length_one
from mathamr_kedro.base.records import CleanText, Post
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus import FormulaMarks, QueryPart, clean_text, take_part
from mathamr_kedro.graph import (
    FORMULA,
    GraphArrays,
    GraphBatch,
    GraphRecord,
    RecordArrays,
    read_placeholder,
)
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.search.explanation import Captions, caption_nodes
from mathamr_kedro.vectors.post_vectors import PostEntry, Vectors

_QUERY = "query"
"""Key of a typed query."""

EncodeWords: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]
ParseTexts: TypeAlias = Callable[[Sequence[str]], Sequence[ParsedText | ParseFailure]]


class EncodedQuery(NamedTuple):
    """The vectors of a query, what its nodes are, and what was hard to read."""

    entry: PostEntry
    captions: Captions
    warnings: tuple[str, ...] = ()
    clean: CleanText = CleanText("", ())
    """Its words, for systems that compare words."""
    graph: GraphRecord | None = None
    """Its math graph; ``None`` for posts and topics, whose graphs are stored."""
    pattern: formula.QueryPattern | None = None
    """What formulas are to be instances of, where it has query variables."""

    @property
    def written(self) -> CleanText:
        """Its words as they were written, with query variables."""
        if self.pattern is None:
            return self.clean
        latex, mentions = self.pattern.latex, self.clean.formula_map
        shown = tuple(mention._replace(latex=latex) for mention in mentions)
        return self.clean._replace(formula_map=shown)


class QueryEncoder:
    """Encodes queries, and new posts, as the posts of an index were encoded.

    Args:
        parse: texts with placeholders to AMR, as
            :class:`~mathamr_kedro.amr.ParseTexts`.
        arrays: AMR records to arrays with the vocabulary of the prepared graphs.
        model: the encoder of the index.
        max_tokens: limit of a chunk of ``parse``.
        encode_words: texts to vectors of a sentence encoder, for a model that reads
            them.
    """

    def __init__(
        self,
        parse: ParseTexts,
        arrays: RecordArrays,
        model: MathAMRPlus,
        max_tokens: int = MAX_CHUNK_TOKENS,
        encode_words: EncodeWords | None = None,
    ) -> None:
        self._parse, self._arrays, self._model = parse, arrays, model
        self._max_tokens, self._encode_words = max_tokens, encode_words

    def encode_text(self, text: str) -> EncodedQuery:
        """Encode words with formulas between dollars.

        Raises:
            MalformedInputError: there is neither a word nor a formula.
        """
        clean, _ = clean_text("", text, _QUERY, markup="text")
        return self._encode(clean, text)

    def encode_formula(self, latex: str) -> EncodedQuery:
        """Encode one formula; it may have query variables, as in ``?a^2 + ?b^2``.

        Raises:
            MalformedInputError: it is empty.
            FormulaError: there is nothing but query variables, or too many.
        """
        pattern = formula.QueryPattern.read(latex)
        marks = FormulaMarks()
        read = latex if pattern is None else pattern.stand_in
        clean = marks.place(marks.mark(read), _QUERY)
        if not clean.formula_map:
            raise MalformedInputError(f"Expected LaTeX to search for (got {latex!r})")
        found = self._encode(clean, latex)._replace(pattern=pattern)
        if pattern is None:
            return found
        kinds, tokens = found.entry.kinds, self._max_tokens
        return found._replace(captions=caption_nodes(*found.written, kinds, tokens))

    def encode_part(self, query: EncodedQuery, part: QueryPart) -> PostEntry:
        """Encode the words or the formulas of a query alone.

        Raises:
            MalformedInputError: there are none.
        """
        clean = take_part(query.clean, part)
        if not clean.text:
            raise MalformedInputError(
                f"Expected {part} in the query (got {query.clean.text!r})"
            )
        return self._encode(clean, clean.text, query.entry.key).entry

    def encode_post(self, post: Post) -> PostEntry:
        """Encode a post that was not in the collection.

        Raises:
            MalformedInputError: there is neither a word nor a formula.
        """
        clean = CleanText(post.text, post.formula_map)
        return self._encode(clean, post.text, post.post_id, post.post_type).entry

    def _encode(
        self, clean: CleanText, source: str, key: PostId = _QUERY, kind: str = "topic"
    ) -> EncodedQuery:
        (parsed,) = self._parse([clean.text])
        if isinstance(parsed, ParseFailure):
            raise MalformedInputError(
                "Expected words or formulas between dollars (got "
                f"{source[:60]!r}: {parsed.detail[:120]})"
            )
        record = GraphRecord(key, parsed.graph, kind, clean.formula_map, parsed.missing)
        fused = self._arrays.fuse(record)
        graph = self._arrays.build(fused)
        formulas = {read_placeholder(m.placeholder): m for m in clean.formula_map}
        kinds = graph.representative_kind.tolist()
        numbers = graph.representative_number.tolist()
        known = [
            formulas[n] for k, n in zip(kinds, numbers, strict=True) if k == FORMULA
        ]
        entry = PostEntry(
            key,
            kind,
            self._compute(graph, clean),
            kinds,
            numbers,
            [m.formula_id for m in known],
            [m.visual_id for m in known],
        )
        captions = caption_nodes(clean.text, clean.formula_map, kinds, self._max_tokens)
        problems = _find_problems(clean, parsed)
        return EncodedQuery(entry, captions, problems, clean, fused)

    def _compute(self, graph: GraphArrays, clean: CleanText) -> Vectors:
        model, text = self._model, None
        if self._encode_words is not None:
            text = self._encode_words([clean.with_latex()])[0]
        device = model.head.inner.weight.device
        batch = GraphBatch.of_graph(graph, self._arrays.schema, text).to(device)
        with torch.no_grad():
            vectors = model.encode(batch, model.prepare(batch))
        return scale_to_length_one(vectors.float().cpu().numpy())


def _find_problems(clean: CleanText, parsed: ParsedText) -> tuple[str, ...]:
    """Say what of a query could not be read as it stands."""
    problems = []
    for mention in clean.formula_map:
        trees = formula.trees_from_latex(mention.latex, mode="total")
        if trees.problems:
            reasons = ", ".join(sorted(trees.problems))
            problems.append(
                f"${mention.latex}$ was read as far as it goes ({reasons}); "
                "`mathamr show formula` shows how"
            )
    problems += [f"a part of the text was skipped: {f.detail}" for f in parsed.failures]
    return tuple(problems)
