r"""Formulas in their contexts as strings, in each form of the paper's Table 1.

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
import re
import unicodedata
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property, partial

from mathamr_kedro.amr import PLACEHOLDER, split_chunks
from mathamr_kedro.base.records import FormulaInstance, Post
from mathamr_kedro.base.types import FormulaId, PostId, TopicId
from mathamr_kedro.formula.graphs import linearise, read_concept
from mathamr_kedro.graph import FusedRecord
from mathamr_kedro.graph.math_graph import MATH_ROLE, OPT_ROLE, MathGraph
from mathamr_kedro.graph.penman_graph import read_label
from mathamr_kedro.graph.sentences import Sentences
from mathamr_kedro.systems.base import Collection
from mathamr_kedro.systems.mathamr.config import Representation
from mathamr_kedro.systems.query import Query

logger = logging.getLogger(__name__)


class LinearGraph:
    """A math graph as strings: depth first, without edge labels.

    ::

        (f / find-01                           find-01 you thing plus SUP 𝑦 𝑛 SUP 𝑥 𝑛
          :mode imperative                     imperative
          :ARG0 (y / you)
          :ARG1 (t / thing
            :mod (e / FORMULA_0
              :opt (F0o0 / U!plus              roles in the order of their names: ARG0,
                :0 (F0o1 / O!SUP ...)          ARG1, mode; equal ones last first: 𝑦, 𝑥
                :0 (F0o4 / O!SUP ...)))))

    A placeholder is replaced by the operator tree of its formula, or by its LaTeX, if
    that is given by number. Each node is written once: a second mention is a
    re-entrancy. The order is that of the strings that the authors published (Mansouri,
    Oard and Zanibbi 2022, section 4), whose graphs name the edge to an operator tree
    ``:math``.
    """

    def __init__(
        self, graph: MathGraph, latex: Mapping[int, str] | None = None
    ) -> None:
        self._graph, self._latex = graph, latex
        self._parts = {part.node: part for part in graph.formulas}
        self._trees = {node for part in graph.formulas for node in part.opt}
        layouts = {node for part in graph.formulas for node in part.slt}
        self._lines: list[list[tuple[str, int]]] = [[] for _ in graph.atoms]
        self._holders: dict[int, list[int]] = {}
        for holder, role, target in graph.lines:
            if target not in layouts:
                self._lines[holder].append((role, target))
            if holder and target not in self._trees:
                self._holders.setdefault(target, []).append(holder)

    def write(self) -> str:
        """Return the whole graph."""
        return " ".join(self._walk(0, range(self._graph.num_nodes)))

    def write_sentences(self) -> dict[int, str]:
        """Return the sentence of each formula, by number.

        A formula that two sentences name belongs to the first; one that the AMR lost
        to the sentence of the formula before it, whose root it hangs from.
        """
        sentences = Sentences.of(self._graph)
        formulas = self._graph.formulas
        home: dict[int, int] = {}  # place in the list to sentence
        here = 0
        for kind, place in sentences.order_with(formulas):
            if kind == "sentence":
                here = place
            else:
                home[place] = here
        lost: dict[int, list[int]] = {}
        for place, part in enumerate(formulas):
            if part.is_lost:
                lost.setdefault(home[place], []).append(part.node)
        texts: dict[int, str] = {}
        for sentence in set(home.values()):
            members = frozenset(sentences.members[sentence])
            root, own = sentences.roots[sentence], lost.get(sentence, [])
            texts[sentence] = " ".join(self._walk(root, members, own))
        return {formulas[place].number: texts[s] for place, s in home.items()}

    def _walk(
        self, root: int, members: Container[int], lost: Sequence[int] = ()
    ) -> list[str]:
        """Return the words of some nodes and of the trees of their formulas.

        If sentences share nodes, some of a sentence may hang from no other node of
        it, but hold one: those follow behind.
        """
        words: list[str] = []
        written: dict[int, None] = {}  # in order
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node in written:
                continue
            written[node] = None
            words += self._spell(node)
            lines = [line for line in self._lines[node] if self._leads(line, members)]
            if node == root:
                lines += [(MATH_ROLE, other) for other in lost]
            # A stack is taken from its end: descending roles, equal ones as they are.
            lines.sort(key=partial(self._order, node), reverse=True)
            waiting += [target for _, target in lines]
            if not waiting:
                waiting = self._find_holder(written, members)
        return words

    def _leads(self, line: tuple[str, int], members: Container[int]) -> bool:
        if line[1] in self._trees:
            return self._latex is None
        return line[1] in members

    def _find_holder(
        self, written: Mapping[int, None], members: Container[int]
    ) -> list[int]:
        """Return the first node that is left and holds a line to one that is not."""
        for node in written:
            for holder in self._holders.get(node, ()):
                if holder in members and holder not in written:
                    return [holder]
        return []

    def _spell(self, node: int) -> list[str]:
        atom = self._graph.atoms[node]
        if node in self._trees:
            concept = read_concept(read_label(atom))[1]
            return [concept] if concept else []
        part = self._parts.get(node)
        if part is None:  # the published strings are in lower case, quotes stay
            return [(atom if atom.startswith('"') else read_label(atom)).lower()]
        latex = (self._latex or {}).get(part.number)
        return [latex] if latex else []

    def _order(self, node: int, line: tuple[str, int]) -> tuple[int, str]:
        role = line[0]
        if node in self._trees:  # operands by number, as the trees themselves
            return int(role), ""
        is_tree = node in self._parts and role == OPT_ROLE
        return 0, MATH_ROLE if is_tree else role.lower()


class Contexts:
    """Writes formulas of a collection with their contexts, in one form."""

    def __init__(self, representation: Representation, sources: Collection) -> None:
        self._words, _, self._formula = representation.rpartition("_")
        self._sources = sources

    @cached_property
    def _topic_graphs(self) -> dict[TopicId, FusedRecord]:
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
                yield record.graph_id, _write_plainly(self._open(record).write())
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
        names = (mention.placeholder for mention in post.formula_map)
        return self._restore(post.text if self._words else " ".join(names), post)

    def _open(self, record: FusedRecord) -> LinearGraph:
        latex = None
        if self._formula == "latex":
            latex = {n: mention.latex for n, mention in record.formulas().items()}
        return LinearGraph(record.graph, latex)

    def read_graph(self, record: FusedRecord) -> dict[FormulaId, str]:
        """Return the texts of the formulas of a math graph."""
        texts = self._open(record).write_sentences()
        return {
            mention.formula_id: _write_plainly(texts[number])
            for number, mention in record.formulas().items()
            if texts.get(number)
        }

    def read_text(self, post: Post | Query) -> dict[FormulaId, str]:
        """Return the texts of the formulas of a post."""
        mentions = {m.placeholder: m for m in post.formula_map}
        found: dict[FormulaId, str] = {}
        chunks = split_chunks(post.text)
        for sentence in (s for chunk in chunks for s in chunk.sentences):
            names = [n for n in PLACEHOLDER.findall(sentence) if n in mentions]
            new = [n for n in names if mentions[n].formula_id not in found]
            if new:
                text = self._restore(sentence, post)
                found.update((mentions[name].formula_id, text) for name in new)
        return found

    def _restore(self, text: str, post: Post | Query) -> str:
        """Write the formulas of a post in place of their placeholders."""
        mentions = {m.placeholder: m for m in post.formula_map}
        owner = post.post_id if isinstance(post, Post) else post.key

        def write(match: re.Match[str]) -> str:
            mention = mentions.get(match.group())
            if mention is None:
                return match.group()
            formula = FormulaInstance(
                mention.formula_id, mention.visual_id, owner, mention.latex
            )
            return self.write_alone(formula, dollars=True)

        return _write_plainly(PLACEHOLDER.sub(write, text))

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
