"""NTCIR-12 Wikipedia formula browsing: articles, queries, judgments.

A formula is named after its article and its place in it, ``Riemann_zeta_function:12``.
Names hold non-ASCII characters; they are compared as NFC Unicode, everywhere.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.records import Failure, Formula, Judgment
from mathamr_kedro.corpus.delimiters import split_punctuation
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
from mathamr_kedro.corpus.xml_rows import read_xml
from mathamr_kedro.trec import read_text

_MATH = re.compile(r"<(?:\w+:)?math\b([^<>]*)>")
_END_OF_MATH = re.compile(r"</(?:\w+:)?math\s*>")
_ID = re.compile(r"""\bid\s*=\s*["']([^"']+)["']""")
_BODY = re.compile(r"<body\b[^<>]*>", re.IGNORECASE)
_END_OF_BODY = re.compile(r"</body\s*>", re.IGNORECASE)
_FILES_OF: Mapping[Part, str] = {
    "posts": "articles",
    "formulas": "articles",
    "topics": "topics",
    "topic_formulas": "topics",
    "qrels": "qrels",
}


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

    def __init__(self, root: str | Path, files: Ntcir12Files) -> None:
        super().__init__(root)
        self._files = files

    def list_files(self, part: Part) -> list[Path]:
        """Return the raw files of a part, in order."""
        if part not in _FILES_OF:
            return []
        kind = _FILES_OF[part]
        return self._find_files(getattr(self._files, kind), kind)

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
        """Yield the formulas of the queries with their MathML, if given."""
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
    """Write the formulas of an article in the way of Stack Exchange posts."""
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
        thread_id=owner,
        place="body",
        comment_id=None,
        old_visual_id=None,
        visual_id=visual_id_of_latex(split_punctuation(latex)[0]),
        latex=latex,
        presentation=presentation,
        content=content,
    )
