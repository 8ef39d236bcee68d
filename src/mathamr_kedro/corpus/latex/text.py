r"""The text of LaTeX as a reader reads it.

```
\begin{lemma}[Gauss] If $p\mid a$,\footnote{As before.} then by
Lemma~\ref{x} and (\ref{eq}) \begin{enumerate} \item \emph{one}, \item two.
        ▼
Lemma (Gauss). If ⟦0⟧, (As before.) then by Lemma and (equation)

(1) one,
(2) two.
```

Formulas are kept apart (:mod:`mathamr_kedro.corpus.placeholders`). An unknown command
leaves its arguments: reading too much is better than losing text. Comments, ``\verb``,
verbatim text and drawings are not read as LaTeX: a dollar or a percent sign inside any
of them means nothing to the rest of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mathamr_kedro.corpus.latex.preamble import SHORT_NAMES, STATEMENTS
from mathamr_kedro.corpus.placeholders import FormulaMarks, protect_code
from mathamr_kedro.corpus.scanning import NextMatch
from mathamr_kedro.formula.latex.macros import LatexArguments

_BLOCKS = (
    "verbatim|Verbatim|lstlisting|minted|comment|filecontents|alltt"
    "|tikzpicture|pgfpicture|circuitikz|asy|xy|forest"
)

_STOP = re.compile(
    r"\\[\\%]|(?P<comment>%.*)"
    r"|\\(?:verb|lstinline(?:\[[^]\n]*\])?)\*?(?P<delimiter>[^a-zA-Z0-9\s*{\[])"
    rf"|\\begin\{{(?P<kind>{_BLOCKS})\*?\}}"
)
# A drawing often is all that a displayed formula holds.
_BEFORE = re.compile(r"(?:\\\[|\\begin\{(?:equation|displaymath)\*?\})\s*\Z")
_AFTER = re.compile(r"\s*(?:\\\]|\\end\{(?:equation|displaymath)\*?\})")
_LOOK_BACK = 40
_LINE_END = re.compile("\n")
_CODE = re.compile("\ue005(\\d{1,9})\ue006")  # stands for code while LaTeX is read
ACCENTS = dict(
    zip("`'^\"~=.uvHcdrkb", "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0306\u030c"
        "\u030b\u0327\u0323\u030a\u0328\u0331", strict=True)
)  # fmt: skip
"""Command to the character that puts its accent on a letter."""

SYMBOLS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ",
    "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "i": "ı", "j": "ȷ", "S": "§", "P": "¶",
    "dag": "†", "ddag": "‡", "copyright": "©", "pounds": "£", "dots": "...",
    "ldots": "...", "textellipsis": "...", "LaTeX": "LaTeX", "TeX": "TeX",
    "textbackslash": "\ue004", "textasciitilde": "~", "textendash": "–",
    "textemdash": "—", "textquoteright": "’", "textquoteleft": "‘", "quad": " ",
    "qquad": " ", "enspace": " ", "thinspace": " ", "textbar": "|", "slash": "/",
}  # fmt: skip

DROPPED_ARGUMENTS = {
    **dict.fromkeys(
        "label bibliography bibliographystyle includegraphics vspace hspace usepackage "
        "documentclass pagestyle thispagestyle pagenumbering index input include "
        "subfile theoremstyle newcounter hypersetup color definecolor phantom hphantom "
        "vphantom bibitem setcitestyle linespread markright graphicspath date vskip "
        "stepcounter refstepcounter geometry newlength externaldocument nocite "
        " xyoption eqno restatable RequirePackage textcolor href colorbox "
        "raisebox fontfamily selectlanguage ref eqref pageref".split(),
        1,
    ),
    **dict.fromkeys(
        "setlength addtolength setcounter addtocounter numberwithin markboth fontsize "
        "rule settowidth DeclareMathSymbol newtheoremstyle import".split(),
        2,
    ),
    "addcontentsline": 3,
    "hyperref": 0,
}
"""Leading arguments that are not text; later ones are."""

ENVIRONMENT_ARGUMENTS = {
    **dict.fromkeys(
        "tabular array multicols minipage longtable wrapfigure adjustbox".split(), 1
    ),
    **dict.fromkeys(("tabular*", "tabularx", "list"), 2),
    "thebibliography": 1,
    "figure": 0, "figure*": 0, "table": 0, "table*": 0,
}  # fmt: skip
"""Arguments of environments that are not text."""

_REFERRED = {
    **SHORT_NAMES,
    "eq": "equation", "eqn": "equation", "def": "definition", "sec": "section",
    "subsec": "section", "chap": "chapter", "app": "appendix", "fig": "figure",
    "tab": "table", "it": "item", "conclusion": "item",
    **{
        name: name
        for name in (
            *STATEMENTS, "equation", "item", "section", "chapter", "appendix", "figure",
            "table", "situation", "step", "part", "condition",
        )
    },
}  # fmt: skip
_WORD = re.compile(r"[a-z]+")
_KINDS = frozenset(
    (*_REFERRED.values(), "situations", "corollaries", "appendices", "axiom", "eq",
     "eqs", "problem", "question", "fact", "note", "subsection", "paragraph", "diagram")
)  # fmt: skip
_NAMED = frozenset(("proof", "problem", "solution", "question", *STATEMENTS))
_STYLE = re.compile(r"\\(arabic|alph|Alph|roman|Roman)\*?\s*(?:\{\w+\})?\*?")
_PLAIN_STYLE = re.compile(r"(?<![a-zA-Z\\])([1aAiI])(?![a-zA-Z])")
_PLAIN = {"1": "arabic", "a": "alph", "A": "Alph", "i": "roman", "I": "Roman"}

_ROMAN = dict(
    zip((100, 90, 50, 40, 10, 9, 5, 4, 1), "c xc l xl x ix v iv i".split(), strict=True)
)
_LEVELS = ("arabic", "alph", "roman", "Alph")

# "Lemma \ref{x}" leaves "Lemma"; a number in parentheses leaves what it numbers.
_REFERENCE = re.compile(
    r"(?P<opened>\()?\\(?P<command>(?:eq|auto|name|page|thm|[cCvV])?ref)\*?\s*"
    r"\{(?P<label>[^{}]*)\}(?:[ \t]{0,9}(?:\n[ \t]{0,9})?(?P<closed>\)))?"
)
_WORD_BEFORE = re.compile(
    r"(?P<word>(?<![a-zA-Z])[a-zA-Z]*)(?P<blank>[ \t~]*(?:\n[ \t]*)?)\Z"
)
# Words of formulas have accents too.
_ACCENT = re.compile(
    r"\\([`'^\"~=.])[ \t]*(?:\{\\?([a-zA-Z])\}|\\([ij])(?![a-zA-Z])|([a-zA-Z]))"
)
_LABEL = re.compile(r"\\label\s*\{[^{}]*\}")
_LAYOUT = re.compile(r"\\(?:no)?(?:line|page)break(?![a-zA-Z])[ \t]*(?:\[\d\])?")
_DOCUMENT = re.compile(r"\\begin\{document\}(.*?)(?:\\end\{document\}|\Z)", re.DOTALL)
_TITLE = re.compile(r"\\title\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_TOKEN = re.compile(r"\\([a-zA-Z@]+)\*?|\\(.)|[{}~&]|``|''|---?|[ \t]*\n\s*", re.DOTALL)
_DIGITS = re.compile(r"[ \t]*(\d{1,3})")
_ENVIRONMENT = re.compile(r"[ \t]*\{([^{}]*)\}")
_BLANK = re.compile(r"[ \t]*(?:\n[ \t]*(?!\s*\n))?")
_CITES = re.compile(r"(?:no)?[cC]ite[a-zA-Z]*|[pP]arencite|textcite|autocite")
_TABLES = frozenset("tabular tabular* tabularx longtable array".split())
_MARKS = {"~": " ", "``": "“", "''": "”", "--": "–", "---": "—", "{": "", "}": ""}
_LISTS = ("enumerate", "itemize", "description")


class LatexCode(NamedTuple):
    """A part of a source that is not read as LaTeX."""

    start: int
    end: int
    code: str | None = None
    """The code that ``\\verb`` shows."""
    is_block: bool = False
    """Whether a paragraph ends here."""


def find_code(text: str) -> Iterator[LatexCode]:
    r"""Yield comments, ``\verb``, verbatim text and drawings in order.

    >>> source = r"a \verb|%$| b 5\% % c"
    >>> [(source[p.start : p.end], p.code) for p in find_code(source)]
    [('\\verb|%$|', '%$'), ('% c', None)]
    """
    ends: dict[str, NextMatch] = {}
    position = 0
    found = _STOP.search(text)
    while found is not None:
        part = _read(text, found, ends, position)
        if part is not None:
            yield part
            position = part.end
        found = _STOP.search(text, found.end() if part is None else part.end)


def take_code_out(text: str) -> tuple[str, list[str]]:
    """Drop comments, verbatim text and drawings; replace inline code by marks."""
    pieces, position = [], 0
    code: list[str] = []
    for part in find_code(text):
        pieces.append(text[position : part.start])
        position = part.end
        if part.is_block:
            pieces.append("\n\n")
        elif part.code is not None:
            pieces.append(f"\ue005{len(code)}\ue006")
            code.append(protect_code(part.code))
    return "".join([*pieces, text[position:]]), code


def put_code_back(text: str, code: list[str]) -> str:
    """Replace the marks of inline code."""
    return _CODE.sub(lambda m: "".join(code[int(m[1]) : int(m[1]) + 1]), text)


def _read(
    text: str, found: re.Match[str], ends: dict[str, NextMatch], position: int
) -> LatexCode | None:
    if found["comment"] is not None:
        return LatexCode(*found.span())
    if found["delimiter"] is not None:
        line = ends.setdefault("\n", NextMatch(_LINE_END, text)).after(found.end())
        end = text.find(found["delimiter"], found.end(), line and line.start())
        if end < 0:
            return None
        return LatexCode(found.start(), end + 1, text[found.end() : end])
    kind = found["kind"]
    if kind is None:
        return None
    if kind not in ends:
        ends[kind] = NextMatch(re.compile(rf"\\end\{{{kind}\*?\}}"), text)
    closed = ends[kind].after(found.end())
    if closed is None:
        return None
    start, end = found.start(), closed.end()
    first = max(position, start - _LOOK_BACK)
    before, after = _BEFORE.search(text[first:start]), _AFTER.match(text, end)
    if before is not None and after is not None:
        start, end = first + before.start(), after.end()
    return LatexCode(start, end, is_block=True)


def flatten_latex(text: str, marks: FormulaMarks) -> str:
    r"""Return the flat text of a LaTeX document or a part of one; lines are not tidied.

    >>> source = r"\begin{lemma}[Gauss] If $p\mid a$, \emph{then}.\end{lemma}"
    >>> flatten_latex(source, FormulaMarks()).strip()
    'Lemma (Gauss). If \ue0010\ue002, then.'
    """
    title, document = _TITLE.search(text), _DOCUMENT.search(text)
    if document:
        heading = f"\\section{{{title[1]}}}\n" if title else ""
        text = f"{heading}{document[1]}"
    text, code = take_code_out(text)
    text = _replace_references(_LABEL.sub("", text))
    text = _ACCENT.sub(_put_accent, _LAYOUT.sub("", text))
    text = marks.mark_delimited(text, is_latex=True)
    flat = _Flattener(text, marks).flatten()
    return put_code_back(flat, code)


class _ListMarks:
    """The marks of the items of one list."""

    def __init__(self, name: str, option: str, level: int) -> None:
        self.is_numbered = name.startswith("enumerate")
        self._count = 0
        self._before, self._style, self._after = "(", _LEVELS[min(level, 3)], ")"
        label = (
            option.partition("label")[2].lstrip("= ") if "label" in option else option
        )
        named = _STYLE.search(label)
        plain = None if named else _PLAIN_STYLE.search(label.partition(",")[0])
        found = named or plain
        if found is not None:
            self._style = found[1] if named else _PLAIN[found[1]]
            self._before = _clean_mark(label[: found.start()])
            self._after = _clean_mark(label[found.end() :].partition(",")[0])

    def next_mark(self) -> str:
        """Return the mark of the next item, e.g. ``(ii)``."""
        if not self.is_numbered:
            return "- "
        self._count += 1
        return f"{self._before}{_write_number(self._count, self._style)}{self._after} "

    def set(self, count: int) -> None:
        """Continue after another number."""
        self._count = count


def _write_roman(number: int) -> str:
    """Return a number in small Roman numerals."""
    written = ""
    for value, letters in _ROMAN.items():
        count, number = divmod(number, value)
        written += count * letters
    return written


def _replace_references(text: str) -> str:
    """Put what references name in their place, unless the word before says it."""
    pieces, position = [], 0
    for found in _REFERENCE.finditer(text):
        first = max(position, found.start() - _LOOK_BACK)
        before = _WORD_BEFORE.search(text[first : found.start()])
        word, blank = (before["word"], before["blank"]) if before else ("", "")
        opened, closed = found["opened"] or "", found["closed"] or ""
        name = _name_reference(found["label"])
        start = found.start()
        if found["command"] == "eqref" or (opened and closed):
            shown = f"({name or 'equation'})" + ("" if opened else closed)
        else:
            if _names_statement(word) and not opened:
                name = ""
            is_small = name in ("equation", "item")
            shown = f"{opened}{name if is_small else name.capitalize()}{closed}"
            start -= 0 if name or opened else len(blank)
        pieces += [text[position:start], shown]
        position = found.end()
    return "".join([*pieces, text[position:]])


def _name_reference(label: str) -> str:
    """Return what a label names, by a word in it.

    >>> [_name_reference(x) for x in ("eq:pi", "algebra-lemma-zorn", "x")]
    ['equation', 'lemma', '']
    """
    words = _WORD.findall(label.split(",", 1)[0].lower())
    return next((_REFERRED[word] for word in words if word in _REFERRED), "")


def _names_statement(word: str) -> bool:
    """Tell whether a word, singular or plural, says what a number stands for."""
    lower = word.lower()
    return lower in _KINDS or lower.removesuffix("s") in _KINDS


def _name_statement(environment: str) -> str | None:
    """Return what an environment prints before its text, if anything.

    Environments of the author's own come as ``@Kind``.
    """
    name = environment.rstrip("*")
    if name.startswith("@"):
        return name[1:]
    return name.capitalize() if name in _NAMED else None


def _clean_mark(text: str) -> str:
    return re.sub(r"\\[a-zA-Z]+|[{}\\]", "", text).strip()


def _write_number(number: int, style: str) -> str:
    if style.lower() == "alph" and number <= 26:
        letter = chr(ord("a") + number - 1)
        return letter if style == "alph" else letter.upper()
    if style.lower() == "roman":
        written = _write_roman(number)
        return written if style == "roman" else written.upper()
    return str(number)


def _put_accent(found: re.Match[str]) -> str:
    letter = found[2] or found[3] or found[4]
    return unicodedata.normalize("NFC", letter + ACCENTS[found[1]])


class _Flattener:
    """One walk over the commands of a text whose formulas are marks."""

    def __init__(self, text: str, marks: FormulaMarks) -> None:
        self._text, self._marks = text, marks
        self._arguments = LatexArguments(text)
        self._pieces: list[str] = []
        self._lists: list[_ListMarks] = []
        self._tables = 0
        self._ends: list[tuple[int, str]] = []  # what to put where an argument ends

    def flatten(self) -> str:
        text, position = self._text, 0
        while (found := _TOKEN.search(text, position)) is not None:
            self._add(position, found.start())
            position = self._read(found)
        self._add(position, len(text))
        return "".join(self._pieces)

    def _add(self, start: int, end: int) -> None:
        """Add words, and at the end of an argument what closes it."""
        while self._ends and self._ends[-1][0] <= end:
            place, after = self._ends.pop()
            self._pieces += [self._text[start:place], after]
            start = max(place + self._text.startswith("]", place), start)
        self._pieces.append(self._text[start:end])

    def _read(self, found: re.Match[str]) -> int:
        name, sign, end = found[1], found[2], found.end()
        if name is not None:
            return self._read_command(name, end)
        if sign is not None:
            return self._read_sign(sign, end)
        mark = found[0]
        if mark.strip() == "":
            self._pieces.append("\n\n" if mark.count("\n") > 1 else " ")
        elif mark == "&":
            self._pieces.append(" " if self._tables else "&")
        else:
            self._pieces.append(_MARKS[mark])
        return end

    def _read_sign(self, sign: str, end: int) -> int:
        if sign == "\\":
            option = self._arguments.read_option(end)
            self._pieces.append("\n")
            return end if option is None else option[1]
        if sign in ACCENTS:
            return self._read_accent(sign, end)
        if sign in " ,;:>~\n\t":
            self._pieces.append(" ")
        elif sign == "$":
            self._pieces.append("\\$")  # starts no formula
        elif sign not in "-/!@()[]":
            self._pieces.append(sign)
        return end

    def _read_accent(self, accent: str, end: int) -> int:
        found = self._arguments.read(end)
        letter = "" if found is None else found[0].strip().removeprefix("\\")
        if found is None or len(letter) != 1 or not letter.isalpha():
            return end
        accented = letter + ACCENTS[accent]
        self._pieces.append(unicodedata.normalize("NFC", accented))
        return found[1]

    def _read_command(self, name: str, end: int) -> int:
        if name in _HANDLERS:
            return _HANDLERS[name](self, end)
        if name in ACCENTS:
            return self._read_accent(name, end)
        if _CITES.fullmatch(name):
            return self._read_cite(end)
        if name in SYMBOLS:
            self._pieces.append(SYMBOLS[name])
        elif name in DROPPED_ARGUMENTS:
            return self._drop(end, DROPPED_ARGUMENTS[name])
        elif self._text.startswith("[", end):
            option = self._arguments.read_option(end)
            end = end if option is None else option[1]
        return self._skip_blank(end)

    def _skip_blank(self, end: int) -> int:
        blank = _BLANK.match(self._text, end)
        return end if blank is None else blank.end()

    def _break(self, end: int) -> int:
        self._pieces.append("\n\n")
        return self._skip_blank(end)

    def _read_counter(self, end: int) -> int:
        """Set the number of a list's last item if the author does."""
        name = self._arguments.read_group(end)
        value = None if name is None else self._arguments.read_group(name[1])
        if name is None or value is None:
            return end
        if self._lists and name[0].startswith("enum") and value[0].strip().isdecimal():
            self._lists[-1].set(int(value[0].strip()[:6]))
        return value[1]

    def _read_roman(self, end: int) -> int:
        number = _DIGITS.match(self._text, end)
        if number is None:
            return end
        self._pieces.append(_write_roman(int(number[1])))
        return number.end()

    def _read_edge(self, end: int) -> int:
        named = _ENVIRONMENT.match(self._text, end)
        if named is None:
            return end
        is_end = self._text.startswith("\\end", end - 4)
        return (self._end if is_end else self._begin)(named[1].strip(), named.end())

    def _wrap(self, end: int, before: str, after: str) -> int:
        """Read an argument on, with something around it."""
        option = self._arguments.read_option(end)
        start = end if option is None else option[1]
        group = self._arguments.read_group(start)
        if group is None:
            return end
        self._pieces.append(before)
        self._ends.append((group[1] - 1, after))
        return self._skip_blank(group[1] - len(group[0]) - 1)

    def _read_diagram(self, end: int) -> int:
        brace = self._text.find("{", end, end + 60)  # \xymatrix@C=1em{...}
        group = self._arguments.read_group(brace) if brace >= 0 else None
        if group is None:
            return end
        start = end - len("\\xymatrix")
        self._pieces.append(self._marks.mark(self._text[start : group[1]]))
        return group[1]

    def _read_formula(self, end: int) -> int:
        group = self._arguments.read_group(end)
        if group is None:
            return end
        self._pieces.append(self._marks.mark(group[0]))
        return group[1]

    def _read_cite(self, end: int) -> int:
        notes = []
        while (option := self._arguments.read_option(end)) is not None:
            notes.append(option[0])
            end = option[1]
        keys = self._arguments.read_group(end)
        if keys is None:
            return end
        parts = [part.strip() for part in (*keys[0].split(","), *notes) if part.strip()]
        inner = _Flattener(", ".join(parts), self._marks).flatten()
        self._pieces.append(f"[{inner}]" if inner else "")
        return keys[1]

    def _drop(self, end: int, count: int) -> int:
        while (option := self._arguments.read_option(end)) is not None:
            end = option[1]
        for _ in range(count):
            group = self._arguments.read_group(end)
            end = end if group is None else group[1]
        return end

    def _begin(self, name: str, end: int) -> int:
        option = self._arguments.read_option(end)
        note = "" if option is None else option[0]
        if name in ENVIRONMENT_ARGUMENTS:
            end = self._drop(end, ENVIRONMENT_ARGUMENTS[name])
        self._pieces.append("\n\n")
        if name in _TABLES:
            self._tables += 1
        elif name.rstrip("*") in _LISTS:
            level = sum(opened.is_numbered for opened in self._lists)
            self._lists.append(_ListMarks(name, note, level))
            return end if option is None else option[1]
        elif (shown := _name_statement(name)) is not None:
            self._pieces.append(shown)
            if option is None:
                self._pieces.append(". ")
                return end
            self._pieces.append(" (")
            self._ends.append((option[1] - 1, ")."))
            return self._arguments.skip_blank(end) + 1
        return end if option is None or name in ENVIRONMENT_ARGUMENTS else option[1]

    def _end(self, name: str, end: int) -> int:
        if name in _TABLES:
            self._tables = max(0, self._tables - 1)
        elif name.rstrip("*") in _LISTS and self._lists:
            self._lists.pop()
        self._pieces.append("\n\n")
        return end

    def _read_item(self, end: int) -> int:
        option = self._arguments.read_option(end)
        if option is not None:
            inner = _Flattener(option[0], self._marks).flatten().strip()
            self._pieces.append(f"\n{inner} " if inner else "\n")
            return option[1]
        mark = self._lists[-1].next_mark() if self._lists else "- "
        self._pieces.append(f"\n{mark}")
        return self._skip_blank(end)


_HANDLERS: dict[str, Callable[[_Flattener, int], int]] = {
    **dict.fromkeys(
        "part chapter section subsection subsubsection paragraph subparagraph "
        "title".split(),
        lambda text, end: text._wrap(end, "\n\n", "\n\n"),
    ),
    **dict.fromkeys(
        "footnote footnotetext thanks marginpar todo sidenote".split(),
        lambda text, end: text._wrap(end, " (", ")"),
    ),
    **dict.fromkeys(("par", "caption"), _Flattener._break),
    **dict.fromkeys(("begin", "end"), _Flattener._read_edge),
    "item": _Flattener._read_item,
    "romannumeral": _Flattener._read_roman,
    "setcounter": _Flattener._read_counter,
    "xymatrix": _Flattener._read_diagram,
    "ensuremath": _Flattener._read_formula,
}
