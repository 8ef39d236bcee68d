"""The text of a formula in its context, in each form of the paper's Table 1.

::

    post     Note this. Find FORMULA_0 for FORMULA_1.          x^2,  n
    sentence             Find FORMULA_0 for FORMULA_1.
    amr_opt              find-01 you SUP x 2 n imperative      of both formulas

Formulas of a sentence share its text (MathAMR, section 5). Clean texts have the
punctuation of a formula behind it already, so a full stop in ``$x^2.$`` ends a
sentence. A formula without a context, as in a comment that was not parsed, is written
by itself. Letters of mathematical alphabets (``𝑥``) are written as letters: the
vocabularies of most encoders do not have them.
"""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from mathamr_kedro.amr import PLACEHOLDER, split_chunks
from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.base.records import FormulaInstance, Post
from mathamr_kedro.base.types import FormulaId, PostId, TopicId
from mathamr_kedro.formula.graphs import linearise
from mathamr_kedro.graph import GraphRecord, read_math_graph
from mathamr_kedro.systems.base import Collection, Query
from mathamr_kedro.systems.mathamr.config import Representation
from mathamr_kedro.systems.mathamr.linearisation import LinearGraph

logger = logging.getLogger(__name__)


class Contexts:
    """Writes formulas with their contexts.

    Args:
        representation: which form.
        sources: the collection; its trees are looked up if the form asks for them.
    """

    def __init__(self, representation: Representation, sources: Collection) -> None:
        self._words, _, self._formula = representation.rpartition("_")
        self._sources = sources

    @cached_property
    def _topic_graphs(self) -> dict[TopicId, GraphRecord]:
        return {record.graph_id: record for record in self._sources.topic_graphs()}

    def of_posts(self) -> Iterator[dict[FormulaId, str]]:
        """Yield the texts of the formulas of each post; none for the form ``opt``."""
        if self._words == "text":
            for post in self._sources.posts():
                yield self.read_text(post)
        elif self._words == "amr":
            for record in self._sources.graphs():
                yield self.read_graph(record)

    def write_query(self, topic: Query) -> str:
        """Return the text of the formula that a topic asks for.

        Without a context, as a query that a person typed, it is written by itself.
        """
        query = topic.asked_formula
        found: Mapping[FormulaId, str] = {}
        if self._words == "text":
            found = self.read_text(topic)
        elif self._words == "amr" and topic.key in self._topic_graphs:
            found = self.read_graph(self._topic_graphs[topic.key])
        return found.get(query.formula_id) or self.write_alone(query)

    def write_posts(self) -> Iterator[tuple[PostId, str]]:
        """Yield posts as one string each, without those that have no graph."""
        if self._words == "amr":
            for record in self._sources.graphs():
                graph = self._open(record)
                if graph is not None:
                    yield record.graph_id, _write_plainly(graph.write())
        else:
            for post in self._sources.posts():
                yield post.post_id, self._write_whole(post)

    def write_topic(self, topic: Query) -> str:
        """Return the string of a topic that asks for posts."""
        if self._words == "amr":
            record = self._topic_graphs.get(topic.key)
            graph = self._open(record) if record is not None else None
            if graph is None and topic.graph is not None:  # it was typed
                graph = LinearGraph(topic.graph)
            if graph is not None:
                return _write_plainly(graph.write())
        return self._write_whole(topic)

    def _write_whole(self, post: Post | Query) -> str:
        spell = self._spell_formulas(post)
        if self._words:
            text = PLACEHOLDER.sub(lambda match: spell(match.group()), post.text)
        else:
            text = " ".join(spell(m.placeholder) for m in post.formula_map)
        return _write_plainly(text)

    def _open(self, record: GraphRecord) -> LinearGraph | None:
        latex = None
        if self._formula == "latex":
            latex = {n: mention.latex for n, mention in record.formulas().items()}
        try:
            return LinearGraph(read_math_graph(record.graph), latex)
        except GraphError as problem:
            logger.warning(
                "formulas of %s have no context: %s", record.graph_id, problem
            )
            return None

    def read_graph(self, record: GraphRecord) -> dict[FormulaId, str]:
        """Return the texts of the formulas of a math graph."""
        graph = self._open(record)
        texts = {} if graph is None else graph.write_sentences()
        return {
            mention.formula_id: _write_plainly(texts[number])
            for number, mention in record.formulas().items()
            if texts.get(number)
        }

    def read_text(self, post: Post | Query) -> dict[FormulaId, str]:
        """Return the texts of the formulas of a post."""
        mentions = {m.placeholder: m for m in post.formula_map}
        spell = self._spell_formulas(post)
        found: dict[FormulaId, str] = {}
        chunks = split_chunks(post.text)
        for sentence in (s for chunk in chunks for s in chunk.sentences):
            names = [n for n in PLACEHOLDER.findall(sentence) if n in mentions]
            new = [n for n in names if mentions[n].formula_id not in found]
            if new:
                text = PLACEHOLDER.sub(lambda match: spell(match.group()), sentence)
                text = _write_plainly(text)
                found.update((mentions[name].formula_id, text) for name in new)
        return found

    def _spell_formulas(self, post: Post | Query) -> Callable[[str], str]:
        """Return what writes the formula of a placeholder of a post."""
        mentions = {m.placeholder: m for m in post.formula_map}
        owner = post.post_id if isinstance(post, Post) else post.key

        def spell(name: str) -> str:
            mention = mentions.get(name)
            if mention is None:
                return name
            formula = FormulaInstance(
                mention.formula_id, mention.visual_id, owner, mention.latex
            )
            return self.write_alone(formula, dollars=True)

        return spell

    def write_alone(self, formula: FormulaInstance, dollars: bool = False) -> str:
        """Return a formula without context; its LaTeX if there is no tree."""
        if self._formula != "latex":
            trees = self._sources.trees_of(formula)
            if trees is not None and trees.opt is not None:
                return _write_plainly(linearise(trees.opt))
        return f"${formula.latex}$" if dollars else formula.latex


def _write_plainly(text: str) -> str:
    """Write letters of mathematical alphabets as letters.

    >>> _write_plainly("SUP 𝑥 2")
    'SUP x 2'
    """
    return unicodedata.normalize("NFKC", text)
