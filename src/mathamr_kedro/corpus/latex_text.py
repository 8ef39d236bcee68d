r"""The text of LaTeX as a reader reads it.

```
\begin{lemma}[Gauss] If $p\mid a$,\footnote{As before.} then by
Lemma~\ref{x} and (\ref{eq}) \begin{enumerate} \item \emph{one}, \item two.
        ▼
Lemma (Gauss). If ⟦0⟧, (As before.) then by Lemma and (equation)

(1) one,
(2) two.
```

Formulas are kept apart (:mod:`.placeholders`). A command that is not known leaves its
arguments: a text is rather read too much than lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from mathamr_kedro.corpus.latex_arguments import LatexArguments
from mathamr_kedro.corpus.latex_code import LatexCode
from mathamr_kedro.corpus.latex_names import (
    ACCENTS,
    DROPPED_ARGUMENTS,
    ENVIRONMENT_ARGUMENTS,
    SYMBOLS,
    LatexWords,
)
from mathamr_kedro.corpus.placeholders import FormulaMarks

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


def flatten_latex(text: str, marks: FormulaMarks) -> str:
    r"""Return the flat text of a LaTeX document or a part of one, lines untidied.

    >>> source = r"\begin{lemma}[Gauss] If $p\mid a$, \emph{then}.\end{lemma}"
    >>> flatten_latex(source, FormulaMarks()).strip()
    'Lemma (Gauss). If \ue0010\ue002, then.'
    """
    title, document = _TITLE.search(text), _DOCUMENT.search(text)
    if document:
        heading = f"\\section{{{title[1]}}}\n" if title else ""
        text = f"{heading}{document[1]}"
    text, code = LatexCode.take_out(text)
    text = LatexWords.replace_references(_LABEL.sub("", text))
    text = LatexWords.put_accents(_LAYOUT.sub("", text))
    text = marks.mark_delimited(text, is_latex=True)
    flat = _Flattener(text, marks).flatten()
    return LatexCode.put_back(flat, code)


class _Flattener:
    """One walk over the commands of a text whose formulas are marks."""

    def __init__(self, text: str, marks: FormulaMarks) -> None:
        self._text, self._marks = text, marks
        self._arguments = LatexArguments(text)
        self._pieces: list[str] = []
        self._lists: list[LatexWords] = []
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
        """Add words; where the argument of a command ends, what closes it."""
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

    def _read_heading(self, end: int) -> int:
        return self._wrap(end, "\n\n", "\n\n")

    def _read_footnote(self, end: int) -> int:
        return self._wrap(end, " (", ")")

    def _read_counter(self, end: int) -> int:
        """Go on with the numbers of a list where the author says so."""
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
        self._pieces.append(LatexWords.write_roman(int(number[1])))
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
            self._lists.append(LatexWords(name, note, level))
            return end if option is None else option[1]
        elif (shown := LatexWords.name_statement(name)) is not None:
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
        _Flattener._read_heading,
    ),
    **dict.fromkeys(
        "footnote footnotetext thanks marginpar todo sidenote".split(),
        _Flattener._read_footnote,
    ),
    **dict.fromkeys(("par", "caption"), _Flattener._break),
    **dict.fromkeys(("begin", "end"), _Flattener._read_edge),
    "item": _Flattener._read_item,
    "romannumeral": _Flattener._read_roman,
    "setcounter": _Flattener._read_counter,
    "xymatrix": _Flattener._read_diagram,
    "ensuremath": _Flattener._read_formula,
}
