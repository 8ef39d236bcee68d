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
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro import formula
from mathamr_kedro.amr import ParsedDocument, ParseFailure, ParseTexts
from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.records import CleanText, FormulaInstance, Post, restore_latex
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus import FormulaMarks, QueryPart, clean_text, take_part
from mathamr_kedro.graph import (
    FORMULA,
    ArrayBuilder,
    GraphVariant,
    ReleasedEncoder,
    StoredTrees,
    Vocabularies,
    VocabularyNumbering,
    from_amr,
    fuse_graph,
    number_formulas,
)
from mathamr_kedro.graph.fusion import TreeLookup
from mathamr_kedro.model import MathAMRPlus, load_model
from mathamr_kedro.systems.mathamr_plus.encoder import encode_graph
from mathamr_kedro.systems.query import Query
from mathamr_kedro.vectors.post_vectors import PostEntry

_QUERY = "query"
"""Key of a typed query."""

EncodeWords: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]
_Parse: TypeAlias = Callable[[Sequence[str]], Sequence[ParsedDocument | ParseFailure]]


class QueryEncoder:
    """Encodes queries, and new posts, as the posts of an index were encoded.

    Args:
        parse: texts with placeholders to AMR, as
            :meth:`~mathamr_kedro.amr.ParseTexts.parse`.
        find_trees: trees of formulas, e.g. :class:`~mathamr_kedro.graph.StoredTrees`.
        vocabularies: of the graphs that the encoder knows.
        variant: of these graphs.
        model: the encoder of the index.
        encode_words: texts to vectors of a sentence encoder, for a model that reads
            them.
    """

    def __init__(
        self,
        parse: _Parse,
        find_trees: TreeLookup,
        vocabularies: Vocabularies,
        variant: GraphVariant,
        model: MathAMRPlus,
        encode_words: EncodeWords | None = None,
    ) -> None:
        self._parse, self._find_trees, self._model = parse, find_trees, model
        self._builder = ArrayBuilder(VocabularyNumbering(vocabularies), variant)
        self._schema = vocabularies.schema
        self._encode_words = encode_words

    @classmethod
    def of_released(cls, name: str = "mathamr_plus") -> QueryEncoder:
        """Open a released encoder by itself, by name or folder.

        ::

            encoder = QueryEncoder.of_released()
            vectors = encoder.read_text("Is $x^2$ convex?").entry.vectors  # (parts, d)
        """
        released = ReleasedEncoder(name)
        return cls(
            ParseTexts().parse,
            StoredTrees(None),
            released.vocabularies,
            released.variant,
            load_model(released.folder),
        )

    def read_text(self, text: str) -> Query:
        """Prepare words with formulas between dollars."""
        clean, _ = clean_text("", text, _QUERY, markup="text")
        return self._encode(clean, text)

    def read_formula(self, latex: str) -> Query:
        """Prepare one formula; it may have query variables, as in ``?a^2 + ?b^2``.

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
        (mention, *_) = clean.formula_map
        asked = FormulaInstance(
            mention.formula_id, mention.visual_id, _QUERY, mention.latex
        )
        return replace(
            self._encode(clean, latex),
            formula=asked,
            trees=formula.trees_from_latex(mention.latex, mode="total"),
            pattern=pattern,
        )

    def encode_part(self, query: Query, part: QueryPart) -> PostEntry:
        """Encode only the words or only the formulas of a query."""
        clean = take_part(query.clean, part)
        if not clean.text:
            raise MalformedInputError(
                f"Expected {part} in the query (got {query.text!r})"
            )
        return _take_entry(self._encode(clean, clean.text, query.key))

    def encode_post(self, post: Post) -> PostEntry:
        """Encode a post that was not in the collection."""
        clean = CleanText(post.text, post.formula_map)
        found = self._encode(clean, post.text, post.post_id, post.post_type)
        return _take_entry(found)

    def _encode(
        self, clean: CleanText, source: str, key: PostId = _QUERY, kind: str = "topic"
    ) -> Query:
        (parsed,) = self._parse([clean.text])
        if isinstance(parsed, ParseFailure):
            raise MalformedInputError(
                "Expected words or formulas between dollars (got "
                f"{source[:60]!r}: {parsed.detail[:120]})"
            )
        formulas = number_formulas(key, clean.formula_map)
        fused = fuse_graph(from_amr(parsed.graph), formulas, self._find_trees).graph
        graph = self._builder.build(fused)
        kinds = graph.representative_kind.tolist()
        numbers = graph.representative_number.tolist()
        known = [
            formulas[n] for k, n in zip(kinds, numbers, strict=True) if k == FORMULA
        ]
        text = None
        if self._encode_words is not None:
            text = self._encode_words([restore_latex(*clean)])[0]
        entry = PostEntry(
            key,
            kind,
            encode_graph(self._model, graph, self._schema, text),
            kinds,
            numbers,
            [m.formula_id for m in known],
            [m.visual_id for m in known],
        )
        problems = _find_problems(clean, parsed)
        return Query(
            key,
            clean.text,
            clean.formula_map,
            read_graph=lambda: fused,
            entry=entry,
            warnings=problems,
            known=graph.known_share if text is None else 1.0,
        )


def _take_entry(query: Query) -> PostEntry:
    assert query.entry is not None  # as it was just encoded
    return query.entry


def _find_problems(clean: CleanText, parsed: ParsedDocument) -> tuple[str, ...]:
    """Say what of a query could not be read as it is."""
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
