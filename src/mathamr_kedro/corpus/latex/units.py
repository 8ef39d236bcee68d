r"""The structure of a LaTeX document: its parts and their numbers.

```
\section{Primes}                  section 1
\begin{lemma}[Euclid]\label{e}    statement 1.1, named and labelled
\end{lemma}
\begin{proof} ... \end{proof}     the proof of that lemma
```
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from mathamr_kedro.base.records import TEXT
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus.latex.document import LatexDocument
from mathamr_kedro.corpus.latex.text import find_code, flatten_latex
from mathamr_kedro.corpus.placeholders import FormulaMarks
from mathamr_kedro.corpus.sections import Headings
from mathamr_kedro.formula.latex.macros import LatexArguments

_STOP = re.compile(
    r"\\\\|\\(?P<edge>begin|end)[ \t]*\{(?P<name>[^{}\n]*)\}"
    r"|\\(?P<level>part|chapter|section|subsection|subsubsection)(?![a-zA-Z@])\*?"
    r"|\\label[ \t]*\{(?P<label>[^{}]*)\}"
    r"|\\(?P<count>setcounter|addtocounter)[ \t]*\{(?P<counter>\w+)\}"
    r"[ \t]*\{[ \t]*(?P<value>-?\d{1,6})[ \t]*\}"
    r"|\\(?:ref)?stepcounter[ \t]*\{(?P<step>\w+)\}"
    r"|\\(?P<appendix>appendix)(?![a-zA-Z])"
)
_REFERENCE = re.compile(
    r"\\(?:eq|auto|name|page|thm|pretty|[cCvV])?ref\*?\s*\{([^{}]*)\}"
    r"|\\hyperref\s*\[([^]\n]*)\]"
)
_FORMULA = re.compile(
    r"(?<!\\)\$\$.*?\$\$|(?<!\\)\$(?:[^$\n]|\n(?![ \t]*\n))*\$|\\[\[(].*?\\[\])]",
    re.DOTALL,
)
_END_OF_SENTENCE = re.compile(
    r"(?<=[.!?])\s+(?=[A-Z\\])|\n[ \t]*\n|\\item\b|\\(?:begin|end)[ \t]*\{[^{}\n]*\}"
)
_CODE = ("verb", "Verb", "lst", "minted", "alltt")  # where code may be
_BEGIN = re.compile(
    r"\\begin[ \t]*\{(?:restatable\*?\}(?P<note>\[[^]\n]*\])?\{(?P<as>[^{}\n]*)\}"
    r"\{\w*\}|(?P<name>[^{}\n]*)\})"
)
_MAX_DEPTH = 8  # of statements and proofs inside each other
_PROOFS = frozenset(("proof", "proof*", "pf", "Proof"))
_LEVELS = ("part", "chapter", "section", "subsection")  # that start a unit


@dataclass
class LatexUnit:
    """A part of a document that becomes a text of its own; its fields are LaTeX."""

    start: int
    """Offset in the text of the document."""
    first: int
    """Where its text starts, after the heading or the optional argument."""
    kind: str
    title: str
    """Name of a statement, heading of anything else."""
    number: str | None = None
    section: str = ""
    chapter: str = ""
    level: int = 0
    """Of the heading."""
    last: int = 0
    end: int = 0
    label: str | None = None
    body: str = ""
    inner_labels: list[str] = field(default_factory=list)
    """Labels of equations and items inside."""
    proofs: list[str] = field(default_factory=list)
    post_id: PostId = ""
    source: str = ""
    place: str = ""
    problem: str = ""
    """With its label."""

    @property
    def references(self) -> tuple[str, ...]:
        """Labels that its proofs cite, each once."""
        labels = (label for proof in self.proofs for label in _list_references(proof))
        return tuple(dict.fromkeys(labels))


@dataclass
class _Proof:
    start: int
    first: int
    option: str
    before: LatexUnit | None
    last: int = 0
    end: int = 0
    is_bound: bool = False


class LatexStructure:
    """Statements, proofs and sections of a document, found in one walk."""

    def __init__(self, document: LatexDocument) -> None:
        self._document, self._text = document, document.text
        self._arguments = LatexArguments(document.text)
        self._counters = document.preamble.counters
        title = document.preamble.title
        self._open: list[tuple[str, LatexUnit | _Proof | None]] = []
        self._names: Counter[str] = Counter()  # of open environments
        self._parts: list[LatexUnit | _Proof] = []  # those that are open
        self.statements: list[LatexUnit] = []
        self.proofs: list[_Proof] = []
        self.sections = [LatexUnit(0, 0, TEXT, title, chapter=title)]
        self._read()
        self._bind_proofs()

    @property
    def taken(self) -> list[tuple[int, int]]:
        """Where statements and their proofs start and end, in order."""
        parts: list[LatexUnit | _Proof] = [*self.statements]
        parts += [proof for proof in self.proofs if proof.is_bound]
        return sorted((part.start, part.end) for part in parts)

    def _read(self) -> None:
        unread = [(part.start, part.end) for part in find_code(self._text)]
        code = 0
        for found in _STOP.finditer(self._text):
            start = found.start()
            while code < len(unread) and unread[code][1] <= start:
                code += 1
            if code < len(unread) and unread[code][0] <= start:
                continue
            if found["edge"] == "begin":
                self._begin(found["name"].strip(), start, found.end())
            elif found["edge"]:
                self._end(found["name"].strip(), start, found.end())
            elif found["level"]:
                self._start_section(found)
            elif found["label"] is not None:
                self._label(found["label"].strip())
            else:
                self._count(found)
        self._close_all(len(self._text))
        self.sections[-1].end = len(self._text)

    def _count(self, found: re.Match[str]) -> None:
        if found["appendix"]:
            self._counters.start_appendix()
        elif found["step"]:
            self._counters.step(found["step"])
        elif found["count"] == "setcounter":
            self._counters.set(found["counter"], int(found["value"]))
        elif found["count"]:
            self._counters.add(found["counter"], int(found["value"]))

    def _begin(self, name: str, start: int, end: int) -> None:
        option = None
        shown = name
        if name.rstrip("*") == "restatable":
            option = self._arguments.read_option(end)
            kind_of = self._arguments.read_group(end if option is None else option[1])
            macro = None if kind_of is None else self._arguments.read_group(kind_of[1])
            if kind_of is not None and macro is not None:
                shown, end = kind_of[0].strip(), macro[1]
        kind = self._counters.find(shown)
        if kind is None and shown not in _PROOFS:
            self._push(name, None)
            return
        if shown == name:
            option = self._arguments.read_option(end)
            end = end if option is None else option[1]
        note = "" if option is None else option[0]
        if kind is None:
            if len(self._parts) >= _MAX_DEPTH:
                self._push(name, None)
                return
            before = self.statements[-1] if self.statements else None
            proof = _Proof(start, end, note, before)
            self.proofs.append(proof)
            self._push(name, proof)
            return
        number = None if kind.counter is None else self._counters.step(kind.counter)
        if len(self._parts) >= _MAX_DEPTH:  # it stays a part of those around it
            self._push(name, None)
            return
        here = self.sections[-1]
        statement = LatexUnit(
            start, end, kind.kind, note, number, here.section, here.chapter
        )
        self.statements.append(statement)
        self._push(name, statement)

    def _push(self, name: str, part: LatexUnit | _Proof | None) -> None:
        self._open.append((name, part))
        self._names[name] += 1
        if part is not None:
            self._parts.append(part)

    def _end(self, name: str, start: int, end: int) -> None:
        opened, after = "", start
        while opened != name and self._names[name]:
            opened, part = self._open.pop()
            self._names[opened] -= 1
            if part is not None:
                self._parts.pop()
                is_closed = opened == name
                part.last, part.end = (start, end) if is_closed else (after, after)
                after = part.start  # one that is open ends where the next one starts

    def _close_all(self, place: int) -> None:
        """End a statement or proof that is never closed at the next one, or heading."""
        for name, part in reversed(self._open) if self._parts else ():
            if part is not None:
                part.last = part.end = place
                place = part.start
                detail = f"\\begin{{{name}}} has no end; read up to what starts next"
                self._document.say_at("open_environment", part.start, detail)
        if self._parts:
            self._open = [opened for opened in self._open if opened[1] is None]
            self._names = Counter(name for name, _ in self._open)
            self._parts.clear()

    def _start_section(self, found: re.Match[str]) -> None:
        level = found["level"]
        short = self._arguments.read_option(found.end())
        title = self._arguments.read_group(found.end() if short is None else short[1])
        if title is None:
            return
        if level == "chapter":
            self._counters.add_chapters()
        is_counted = not found[0].endswith("*")
        number = self._counters.step(level) if is_counted else None
        if level not in _LEVELS:
            return
        self._close_all(found.start())
        before = self.sections[-1]
        before.end = found.start()
        name = title[0]
        chapter = name if level == "chapter" else before.chapter
        section = {"section": name, "subsection": before.section}.get(level, "")
        depth = _LEVELS.index(level) + 1
        self.sections.append(
            LatexUnit(
                found.start(), title[1], TEXT, name, number, section, chapter, depth
            )
        )

    def _label(self, label: str) -> None:
        owner = self._open[-1][1] if self._open else None
        if isinstance(owner, LatexUnit) and owner.label is None:
            owner.label = label
        elif self._parts:
            around = self._parts[-1]
            if isinstance(around, LatexUnit):
                around.inner_labels.append(label)
        elif not self._open and self.sections[-1].label is None:
            self.sections[-1].label = label

    def _bind_proofs(self) -> None:
        """Give each proof to the statement that it names, or else to the one before."""
        by_label = {s.label: s for s in self.statements if s.label is not None}
        for proof in self.proofs:
            named = (by_label.get(label) for label in _list_references(proof.option))
            owner = next((s for s in named if s is not None), proof.before)
            if owner is not None:
                owner.proofs.append(self._text[proof.first : proof.last])
                proof.is_bound = True


def _list_references(text: str) -> Iterator[str]:
    for found in _REFERENCE.finditer(text):
        yield from (label.strip() for label in (found[1] or found[2]).split(","))


def list_citations(text: str) -> Iterator[tuple[str, str]]:
    r"""Yield labels with the sentences that cite them, without formulas.

    >>> list(list_citations(r"So $f$ is proper. By Chow's lemma (\ref{c}) all is."))
    [('c', "By Chow's lemma () all is.")]
    """
    for sentence in _END_OF_SENTENCE.split(_FORMULA.sub(" ", text)):
        words = _REFERENCE.sub("", sentence)
        for label in _list_references(sentence):
            yield label, words


def list_statements(document: LatexDocument) -> list[LatexUnit]:
    """Return statements, and the rest of each section, in the order of the text."""
    found = LatexStructure(document)
    units = found.statements
    for unit in units:
        unit.body = _cut(document, unit.first, unit.last)
    sections = _cut_sections(document, found, found.taken)
    return sorted([*units, *sections], key=lambda unit: unit.start)


def list_sections(document: LatexDocument) -> list[LatexUnit]:
    """Return the sections, statements included."""
    return list(_cut_sections(document, LatexStructure(document), []))


def list_whole(document: LatexDocument) -> list[LatexUnit]:
    """Return the document as one unit, if it has a text."""
    if not list_sections(document):
        return []
    title, text = document.preamble.title, document.text
    body = _name_statements(text, document)
    return [LatexUnit(0, 0, TEXT, title, chapter=title, body=body)]


def _cut_sections(
    document: LatexDocument,
    found: LatexStructure,
    taken: list[tuple[int, int]],
) -> Iterator[LatexUnit]:
    """Yield what is in each section outside of the taken parts, if anything."""
    headings = Headings()
    for section in found.sections:
        pieces, position = [], section.first
        first = max(bisect_right(taken, (section.first, section.first)) - 1, 0)
        last = bisect_right(taken, (section.end, section.end))
        for start, end in taken[first:last]:
            if end > position:
                pieces.append(_cut(document, position, max(start, position)))
                position = end
        pieces.append(_cut(document, position, section.end))
        section.body = "\n\n".join(pieces)
        has_text = bool(flatten_latex(section.body, FormulaMarks()).strip())
        title = headings.title(section.level, section.title, has_text)
        if title is not None:
            section.title = title
            yield section


def _cut(document: LatexDocument, start: int, end: int) -> str:
    return _name_statements(document.text[start:end], document)


def _name_statements(text: str, document: LatexDocument) -> str:
    """Name the kind of statements whose environments the author defined."""
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
    for part in find_code(text):
        pieces += [_BEGIN.sub(rename, text[position : part.start])]
        pieces += [text[part.start : part.end]]
        position = part.end
    return "".join([*pieces, _BEGIN.sub(rename, text[position:])])
