r"""NTCIR-12 Wikipedia formula browsing: articles, queries, judgments.

A formula is named by its article and its position there, ``Riemann_zeta_function:12``.
Names hold non-ASCII characters; they are compared as NFC Unicode, everywhere.

The trees of the 1,140 judged formulas and the 20 concrete queries were published as
pairs of nodes (GCL-Formula-Retrieval), whose labels are numbers::

    "Prime_zeta_function:28": [[[60008, 60026, 0], [60000, 60001, 1], [500]], ...]
                                 type   value  node                  edge

The meaning of a number is inferred from formulas whose MathML is available (the
queries, and articles if there are any): both trees are walked in parallel. A value that
occurs in none of them keeps its number, ``V!#60208``, and equals only itself.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

from lxml import etree

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.records import Failure, Formula, Judgment
from mathamr_kedro.corpus.delimiters import split_punctuation
from mathamr_kedro.corpus.formula_pool import FormulaPool, PoolRow
from mathamr_kedro.corpus.judgments import read_judgments
from mathamr_kedro.corpus.math_elements import MathElement
from mathamr_kedro.corpus.placeholders import visual_id_of_latex
from mathamr_kedro.corpus.raw import (
    Collection,
    Part,
    RawPost,
    RawTopic,
    make_failure,
)
from mathamr_kedro.corpus.scanning import find_blocks
from mathamr_kedro.corpus.xml_records import read_xml
from mathamr_kedro.formula.latex.alphabets import MATH
from mathamr_kedro.formula.node import OPT_EDGES, Node
from mathamr_kedro.formula.tree import FormulaTree
from mathamr_kedro.formula.tree_store import TreeRow
from mathamr_kedro.trec import read_text

_MATH = re.compile(r"<(?:\w+:)?math\b([^<>]*)>")
_END_OF_MATH = re.compile(r"</(?:\w+:)?math\s*>")
_ID = re.compile(r"""\bid\s*=\s*["']([^"']+)["']""")
_BODY = re.compile(r"<body\b[^<>]*>", re.IGNORECASE)
_END_OF_BODY = re.compile(r"</body\s*>", re.IGNORECASE)

_Code: TypeAlias = tuple[int, int]
"""Type and value of a node."""

_FIRST_EDGE = 500
_EDGES = {"slt": "onbuweacd", "opt": OPT_EDGES}
"""Edges by their number after the first one."""

_END = {"slt": 60006, "opt": 60004}
"""Type of the marks after the last symbol of a line, and below leaves."""


@dataclass(frozen=True)
class Ntcir12Files:
    """Where the parts are, relative to the root; patterns may hold ``*``."""

    articles: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    qrels: tuple[str, ...] = ()


class _MathElement(NamedTuple):
    """One ``<math>`` element of an article."""

    formula_id: str
    latex: str
    markup: str
    span: tuple[int, int]


def normalise_name(name: str) -> str:
    """Return a document name as NFC Unicode, so that equal names compare equal."""
    return unicodedata.normalize("NFC", name)


class Ntcir12Collection(Collection):
    """Lazy reader of an NTCIR-12 MathWiki folder."""

    files_of: ClassVar[Mapping[Part, str]] = {
        "posts": "articles",
        "formulas": "articles",
        "topics": "topics",
        "topic_formulas": "topics",
        "qrels": "qrels",
    }

    def posts(self) -> Iterator[RawPost | Failure]:
        """Yield the articles as documents."""
        for path in self.list_files("posts"):
            text = _read_text(path)
            if isinstance(text, Failure):
                yield text
                continue
            yield RawPost(
                source=path.name,
                place="",
                post_id=_article_name(path),
                title=_article_name(path).replace("_", " "),
                body=_mark_math(text, path),
            )

    def formulas(self) -> Iterator[Formula | Failure]:
        """Yield the formulas of all articles."""
        for path in self.list_files("posts"):
            text = _read_text(path)
            if isinstance(text, Failure):
                continue  # reported with the posts
            name = _article_name(path)
            for math in _find_math(text, name):
                has_content = MathElement(math.markup).has_content
                content = math.markup if has_content else ""
                yield _formula(math.formula_id, name, math.latex, math.markup, content)

    def topics(self) -> Iterator[RawTopic | Failure]:
        """Yield the queries; each is only a formula."""
        for path in self.list_files("topics"):
            yield from _read_queries(path)

    def topic_formulas(self) -> Iterator[Formula | Failure]:
        """Yield the formulas of the queries with their MathML, if it is available."""
        for path in self.list_files("topics"):
            if path.suffix == ".xml":
                yield from _read_query_formulas(path)

    def judgments(self) -> Iterator[Judgment | Failure]:
        """Yield the judgments, document names as NFC Unicode."""
        for path in self.list_files("qrels"):
            yield from read_judgments(path, path.name, "ntcir12")


def _find_math(text: str, article: str) -> Iterator[_MathElement]:
    """Yield the ``<math>`` elements of an article with their names."""
    elements = find_blocks(text, _MATH, {"": _END_OF_MATH})
    for number, (opened, closed) in enumerate(elements):
        attributes = opened[1]
        found = _ID.search(attributes)
        has_name = found is not None and ":" in found[1]
        formula_id = found[1] if found and has_name else f"{article}:{number}"
        span = opened.start(), closed.end()
        markup = text[slice(*span)]
        latex = MathElement(markup, attributes).read_latex()
        yield _MathElement(normalise_name(formula_id), latex, markup, span)


def _mark_math(text: str, path: Path) -> str:
    """Mark the formulas of an article as Stack Exchange posts do."""
    pieces, position = [], 0
    for math in _find_math(text, _article_name(path)):
        start, end = math.span
        pieces += [
            text[position:start],
            f'<span class="math-container" id="{html.escape(math.formula_id)}">',
            html.escape(math.latex or "?"),
            "</span>",
        ]
        position = end
    pieces.append(text[position:])
    marked = "".join(pieces)
    body, ends = _BODY.search(marked), list(_END_OF_BODY.finditer(marked))
    if body is None or not ends or ends[-1].start() < body.end():
        return marked
    return marked[body.end() : ends[-1].start()]


def _article_name(path: Path) -> str:
    return normalise_name(path.name.removesuffix(".gz").rpartition(".")[0])


def _read_text(path: Path) -> str | Failure:
    try:
        return read_text(path, "as_written")
    except MalformedInputError as exc:
        return make_failure(path.name, "", "bad_file", str(exc))


def _read_queries(path: Path) -> Iterator[RawTopic]:
    if path.suffix == ".xml":
        for formula in _read_query_formulas(path):
            yield _query(path.name, formula.post_id, formula.latex)
        return
    for number, line in enumerate(read_text(path, "as_written").splitlines(), 1):
        name, tab, latex = line.partition("\t")
        if not tab:
            raise MalformedInputError(
                f"{str(path)!r}, line {number}: expected 'name<TAB>LaTeX', got {line!r}"
            )
        yield _query(path.name, name, latex)


def _query(source: str, name: str, latex: str) -> RawTopic:
    question = f'<span class="math-container" id="{name}:0">{html.escape(latex)}</span>'
    return RawTopic(
        source=source,
        topic_id=name,
        task="ntcir12",
        year=2016,
        question=question,
        formula_id=f"{name}:0",
        latex=latex,
    )


def _read_query_formulas(path: Path) -> Iterator[Formula]:
    for topic in read_xml(path).iter("{*}topic"):
        name = (topic.findtext("{*}num") or "").strip()
        math = topic.find(".//{*}math")
        if math is None:
            continue
        markup = etree.tostring(math, encoding="unicode", with_tail=False)
        tex = topic.findtext('.//{*}annotation[@encoding="application/x-tex"]')
        latex = (tex or math.get("alttext") or "").strip()
        yield _formula(f"{name}:0", name, latex, markup, markup)


def _formula(
    formula_id: str, owner: str, latex: str, presentation: str, content: str
) -> Formula:
    """Return a row of the formula index; its visual id is that of the clean text."""
    return Formula(
        formula_id=formula_id,
        post_id=owner,
        visual_id=visual_id_of_latex(split_punctuation(latex)[0]),
        latex=latex,
        presentation=presentation,
        content=content,
    )


@dataclass(frozen=True)
class TupleFiles:
    """Where the parts are, relative to the root or absolute; they may hold ``*``."""

    slt: tuple[str, ...]
    """JSON files of layout trees: judged formulas first, then queries."""
    opt: tuple[str, ...]
    """The same for operator trees."""
    topics: tuple[str, ...]
    """The queries as the lab published them, with MathML."""
    qrels: tuple[str, ...]
    articles: tuple[str, ...] = ()
    """HTML with further formulas, matched to trees by name."""


class Ntcir12Tuples(FormulaPool):
    """Lazy reader: each judged formula is a document of its own."""

    task = "ntcir12"
    _files: TupleFiles

    def list_files(self, part: Part) -> list[Path]:
        """Return the raw files of a part, in order."""
        files = self._files
        trees, topics = (*files.slt, *files.opt), (*files.topics, *files.articles)
        wanted = {"qrels": files.qrels, "topic_notes": (), "comments": (), "pairs": ()}
        return self._find_files(wanted.get(part, (*trees, *topics)), part)

    def _name_visual(self, row: PoolRow) -> str:
        return row.shown_visual_id  # names are no numbers of a formula index

    def _formula_rows(self) -> Iterator[PoolRow | Failure]:
        return self._read(is_query=False)

    def _topic_rows(self) -> Iterator[PoolRow | Failure]:
        return self._read(is_query=True)

    def _read(self, is_query: bool) -> Iterator[PoolRow]:
        codes = {kind: self._read_codes(kind) for kind in ("slt", "opt")}
        queries, others = self._read_named()
        named = others | queries
        names = {k: _Names(k, c, named) for k, c in codes.items()}
        for place, owner in enumerate(codes["slt"], 1):
            if (owner in queries) == is_query:
                slt, opt = (names[k].write(codes[k].get(owner)) for k in names)
                latex = named[owner].latex if owner in named else ""
                key = f"{owner}:0" if is_query else owner
                yield PoolRow("tuples", f"formula {place}", owner, key, latex, slt, opt)

    def _read_codes(self, kind: str) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for path in self._find_files(getattr(self._files, kind), kind):
            try:
                values = json.loads(read_text(path, "as_written"))
            except json.JSONDecodeError as exc:
                raise MalformedInputError(
                    f"{str(path)!r}: expected a JSON object of formulas ({exc})"
                ) from exc
            found |= {normalise_name(name): pairs for name, pairs in values.items()}
        return found

    def _read_named(self) -> tuple[dict[str, Formula], dict[str, Formula]]:
        """Return queries, and formulas of articles, by name, with their MathML."""
        files = Ntcir12Files(self._files.articles, self._files.topics)
        lab = Ntcir12Collection(self.root, files)
        asked = (f for f in lab.topic_formulas() if isinstance(f, Formula))
        others = (f for f in lab.formulas() if isinstance(f, Formula))
        return {f.post_id: f for f in asked}, {f.formula_id: f for f in others}


class _Names:
    """What the numbers of one kind of tree mean."""

    def __init__(
        self, kind: str, codes: dict[str, list[Any]], named: dict[str, Formula]
    ) -> None:
        self._kind = kind
        met: dict[_Code, Counter[str]] = defaultdict(Counter)
        for owner in codes.keys() & named.keys():
            trees = TreeRow.build(named[owner]).trees()
            tree = trees.slt if kind == "slt" else trees.opt
            if tree is not None and codes[owner]:
                self._walk(self._plant(codes[owner]), tree.root, met)
        self._labels = {code: c.most_common(1)[0][0] for code, c in met.items()}
        types: dict[int, Counter[str]] = defaultdict(Counter)
        for (kind_of_node, _), label in self._labels.items():
            types[kind_of_node][label[:2] if label[1:2] == "!" else ""] += 1
        self._types = {code: c.most_common(1)[0][0] for code, c in types.items()}

    def write(self, pairs: list[Any] | None) -> str:
        """Return the bracket string of a tree; empty if there is none."""
        if not pairs:
            return ""
        root = self._plant(pairs)
        tree = FormulaTree("slt" if self._kind == "slt" else "opt", root)
        stack = [root]
        while stack:
            node = stack.pop()
            stack += node.edges.values()
            node.label = self._name(_read_code(node.label))
        return tree.to_string()

    def _name(self, code: _Code) -> str:
        kind, value = code
        label = self._labels.get(code)
        if label is None:
            return f"{self._types.get(kind, '')}#{value or kind}"
        if self._kind == "opt" and label[:2] == "V!" and len(label) == 3:
            # As the operator trees of other collections write it: x is 𝑥.
            return "V!" + (MATH.choose(label[2]).restyle(label[2]) or label[2])
        return label

    def _plant(self, pairs: list[Any]) -> Node:
        """Return the tree of pairs of nodes, its labels the numbers."""
        nodes: dict[int, Node] = {}
        for parent, child, (edge, *_) in pairs:
            above = nodes.setdefault(parent[2], Node(f"{parent[0]} {parent[1]}"))
            if child[0] != _END[self._kind]:
                below = nodes.setdefault(child[2], Node(f"{child[0]} {child[1]}"))
                above.edges[_EDGES[self._kind][edge - _FIRST_EDGE]] = below
        return nodes[min(nodes)]

    def _walk(self, theirs: Node, ours: Node, met: dict[_Code, Counter[str]]) -> None:
        """Learn the label of each number by walking both trees as far as they agree."""
        stack = [(theirs, ours)]
        while stack:
            coded, node = stack.pop()
            if coded.edges.keys() == node.edges.keys():
                met[_read_code(coded.label)][node.label] += 1
                stack += [(coded.edges[e], node.edges[e]) for e in coded.edges]


def _read_code(label: str) -> _Code:
    kind, value = label.split()
    return int(kind), int(value)
