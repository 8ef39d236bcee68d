r"""Units of a LaTeX document: statements with their proofs, sections, paragraphs.

```
\section{Primes}                         text        Primes: "There are many."
There are many.
\begin{lemma}[Euclid]\label{e} ...       lemma       1.1, Euclid, label e
\begin{proof} By Lemma \ref{d} ...                   its proof cites d
```
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from mathamr_kedro.corpus.latex_code import LatexCode
from mathamr_kedro.corpus.latex_document import LatexDocument
from mathamr_kedro.corpus.latex_structure import LatexStructure

TEXT = "text"
"""Kind of what stands outside of statements."""

# What is left of a text without words: commands, their names in braces, blanks.
_SILENT = re.compile(
    r"\\(?:label|begin|end|vspace|hspace|bibliography|bibliographystyle|pagestyle"
    r"|input|include|thispagestyle|addcontentsline)\*?(?:\{[^{}]*\})+"
    r"|\\[a-zA-Z@]+\*?|[\s{}\\]|(?<=\{)\d+(?=\})"
)
_CODE = ("verb", "Verb", "lst", "minted", "alltt")  # where code may stand
_BEGIN = re.compile(
    r"\\begin[ \t]*\{(?:restatable\*?\}(?P<note>\[[^]\n]*\])?\{(?P<as>[^{}\n]*)\}"
    r"\{\w*\}|(?P<name>[^{}\n]*)\})"
)
_BREAK = re.compile(
    r"\\\\|\\(?P<edge>begin|end)[ \t]*\{[^{}\n]*\}|\\[\[\]]|(?<!\\)\$\$|\n[ \t]*\n\s*"
)


class LatexUnit(NamedTuple):
    """A part of a document that is read as a text of its own; all of it is LaTeX."""

    start: int
    """Offset in the text of the document."""
    kind: str
    title: str
    """Name of a statement, heading of anything else."""
    body: str
    number: str | None = None
    label: str | None = None
    section: str = ""
    chapter: str = ""
    proofs: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    """Labels that the proofs name, each once."""
    inner_labels: tuple[str, ...] = ()
    """Of equations and items inside."""

    @classmethod
    def list_statements(cls, document: LatexDocument) -> list[LatexUnit]:
        """Return statements, and the rest of each section, in the order of the text."""
        found = LatexStructure(document)
        units = [
            cls(
                s.start, s.kind, s.name, _cut(document, s.first, s.last), s.number,
                s.label, s.section.section, s.section.chapter, tuple(s.proofs),
                s.references, tuple(s.inner_labels),
            )
            for s in found.statements
        ]  # fmt: skip
        units += cls._cut_sections(document, found, found.taken)
        return sorted(units, key=lambda unit: unit.start)

    @classmethod
    def list_sections(cls, document: LatexDocument) -> list[LatexUnit]:
        """Return the sections, statements and all."""
        return list(cls._cut_sections(document, LatexStructure(document), []))

    @classmethod
    def list_whole(cls, document: LatexDocument) -> list[LatexUnit]:
        """Return the document as one unit."""
        title, text = document.preamble.title, document.text
        return [cls(0, TEXT, title, _name_statements(text, document), chapter=title)]

    @classmethod
    def list_paragraphs(cls, document: LatexDocument) -> list[LatexUnit]:
        """Return the paragraphs of each section; an environment is never cut."""
        return [
            unit._replace(start=unit.start + start, body=unit.body[start:end])
            for unit in cls.list_sections(document)
            for start, end in _find_paragraphs(unit.body)
        ]

    @classmethod
    def _cut_sections(
        cls,
        document: LatexDocument,
        found: LatexStructure,
        taken: list[tuple[int, int]],
    ) -> Iterator[LatexUnit]:
        """Yield what stands in each section outside of the taken parts, if anything."""
        for section in found.sections:
            pieces, position = [], section.first
            first = max(bisect_right(taken, (section.first, section.first)) - 1, 0)
            last = bisect_right(taken, (section.end, section.end))
            for start, end in taken[first:last]:
                if end > position:
                    pieces.append(_cut(document, position, max(start, position)))
                    position = end
            pieces.append(_cut(document, position, section.end))
            body = "\n\n".join(pieces)
            if section.title or _SILENT.sub("", body):
                yield cls(
                    section.start, TEXT, section.title, body, section.number,
                    section.label, section.section, section.chapter,
                )  # fmt: skip


def _cut(document: LatexDocument, start: int, end: int) -> str:
    return _name_statements(document.text[start:end], document)


def _name_statements(text: str, document: LatexDocument) -> str:
    """Give statements of the author's own names that say what they are."""
    counters = document.preamble.counters

    def rename(found: re.Match[str]) -> str:
        kind = counters.find((found["as"] or found["name"]).strip())
        if kind is None:
            return found[0]
        printed = kind.kind[:1].upper() + kind.kind[1:]
        return f"\\begin{{@{printed}}}{found['note'] or ''}"

    if not any(name in text for name in _CODE):
        return _BEGIN.sub(rename, text)
    pieces, position = [], 0
    for part in LatexCode.find(text):
        pieces += [_BEGIN.sub(rename, text[position : part.start])]
        pieces += [text[part.start : part.end]]
        position = part.end
    return "".join([*pieces, _BEGIN.sub(rename, text[position:])])


def _find_paragraphs(text: str) -> Iterator[tuple[int, int]]:
    depth, start, is_displayed = 0, 0, False
    for found in _BREAK.finditer(text):
        if found["edge"] is not None:
            depth = max(depth + (1 if found["edge"] == "begin" else -1), 0)
        elif found[0] == "$$":
            is_displayed = not is_displayed
        elif found[0] in (r"\[", r"\]"):
            is_displayed = found[0] == r"\["
        elif found[0][0] == "\n" and not depth and not is_displayed:
            if _SILENT.sub("", text[start : found.start()]):
                yield start, found.start()
                start = found.end()
    if _SILENT.sub("", text[start:]) or not start:
        yield start, len(text)
