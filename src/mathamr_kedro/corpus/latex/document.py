r"""A LaTeX document as one text: files joined, comments removed, macros expanded.

```
main.tex      \input{macros} ... \begin{document} ... \include{one} ... \end{document}
macros.tex    \newcommand{\R}{\mathbb{R}} \newtheorem{thm}{Theorem}[section]
one.tex       \section{One} Let $f : \R \to \R$ % a remark
        ▼
text          \section{One} Let $f : \mathbb{R} \to \mathbb{R}$
origin        file and line of every place in the text
```

Only files in the folder of the corpus are read, whatever a path says.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.corpus.latex.preamble import LatexPreamble
from mathamr_kedro.corpus.scanning import NextMatch
from mathamr_kedro.formula.latex.macros import (
    DEFINITIONS,
    LatexArguments,
    LatexMacros,
    join_expansion,
    name_operators,
    read_definition,
)

_STOP = re.compile(r"%[^\n]*\n?[ \t]*|\\(?:([a-zA-Z@]+)|.)", re.DOTALL)
_VERB = re.compile(r"\*?([^a-zA-Z0-9\s*{\[])[^\n]*?\1")
_ENVIRONMENT = re.compile(r"[ \t]*\{([^{}\n]*)\}")
_VERBATIM = re.compile(r"(?:verbatim|Verbatim|lstlisting|minted|filecontents)\*?")
_ADDRESS = re.compile(r"\{[^{}\n]*\}")
_PLAIN_INPUT = re.compile(r"[ \t]+([^\s{}\\%]+)")
_NEWLINE = re.compile(r"\n")
_MAX_INPUTS = 2000
_MAX_LENGTH = 64_000_000


Report = Callable[[str, str, int, str], None]
"""Takes reason, file, line and detail of a problem."""


class LatexDocument:
    """One document of a corpus: a file and what it includes.

    Args:
        file: its path in the folder of the corpus.
        text: of the file.
        read: returns path and text of an included file, or a problem.
        report: takes problems.
    """

    def __init__(
        self,
        file: str,
        text: str,
        read: Callable[[str, str], tuple[str, str] | str],
        report: Report,
    ) -> None:
        self.file = file
        self.preamble = LatexPreamble()
        self.macros = LatexMacros()
        self.origins = LatexOrigins()
        self.files: dict[str, None] = {}
        """Its own file first, then those that it includes."""
        self._read, self._report = read, report
        self._inputs = 0
        self._open: list[str] = []
        self.scan(file, text)
        self.text = self.origins.join()

    def scan(self, file: str, text: str) -> None:
        """Read a file where the document includes it."""
        self.files[file] = None
        self.origins.open(file, text)
        self._open.append(file)
        _FileScan(self, file, text).run()
        self._open.pop()

    def say(self, reason: str, file: str, offset: int, detail: str) -> None:
        """Report a problem at a place of a file."""
        self._report(reason, file, self.origins.find_line(file, offset), detail)

    def say_at(self, reason: str, offset: int, detail: str) -> None:
        """Report a problem at a place of the text."""
        self._report(reason, *self.origins.find_place(offset), detail)

    def include(self, name: str) -> str:
        """Read an included file; return why it cannot be read, if so."""
        self._inputs += 1
        if self._inputs > _MAX_INPUTS or self.origins.length > _MAX_LENGTH:
            return f"expected at most {_MAX_INPUTS} files and {_MAX_LENGTH} characters"
        found = self._read(name, self._open[-1])
        if isinstance(found, str):
            return found
        if found[0] in self._open:
            chain = " > ".join([*self._open, found[0]])
            return f"a file that includes itself ({chain})"
        self.scan(*found)
        return ""


class LatexOrigins:
    """A text put together from files, and the file and line of each piece of it."""

    def __init__(self) -> None:
        self.length = 0
        self._texts: dict[str, str] = {}
        self._lines: dict[str, list[int]] = {}
        self._pieces: list[str] = []
        self._starts: list[int] = []
        self._origins: list[tuple[str, int]] = []

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def last(self) -> str:
        """The last piece."""
        return self._pieces[-1] if self._pieces else ""

    def open(self, file: str, text: str) -> None:
        """Register a file."""
        self._texts[file] = text

    def add(self, piece: str, file: str, offset: int) -> None:
        """Add a piece at an offset of a file."""
        if piece:
            self._starts.append(self.length)
            self._origins.append((file, offset))
            self._pieces.append(piece)
            self.length += len(piece)

    def forget(self, count: int) -> None:
        """Drop all pieces after the first ``count``."""
        if count < len(self._pieces):
            self.length = self._starts[count]
            del self._pieces[count:], self._origins[count:], self._starts[count:]

    def join(self) -> str:
        """Return the whole text; no piece can be added after that."""
        text = "".join(self._pieces)
        self._pieces.clear()
        return text

    def find_place(self, offset: int) -> tuple[str, int]:
        """Return file and line of a part of the whole text."""
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return next(iter(self._texts)), 1
        file, start = self._origins[number]
        # The expansion of a macro is longer than its name.
        last = len(self._texts[file])
        if number + 1 < len(self._origins) and self._origins[number + 1][0] == file:
            last = max(start, self._origins[number + 1][1])
        return file, self.find_line(
            file, min(start + offset - self._starts[number], last)
        )

    def find_line(self, file: str, offset: int) -> int:
        """Return the line of an offset in a file, from 1."""
        if file not in self._lines:
            ends = _NEWLINE.finditer(self._texts[file])
            self._lines[file] = [found.start() for found in ends]
        return bisect_right(self._lines[file], offset - 1) + 1


class _FileScan:
    """One walk over the commands of a file."""

    def __init__(self, document: LatexDocument, file: str, text: str) -> None:
        self._document, self._file, self._text = document, file, text
        self._arguments = LatexArguments(text)
        self._first = len(document.origins)
        self._position = 0  # up to where the text was taken
        self._ends: dict[str, NextMatch] = {}
        self._is_over = False

    def run(self) -> None:
        origins, text, macros = (
            self._document.origins,
            self._text,
            self._document.macros,
        )
        place = 0
        while not self._is_over and (found := _STOP.search(text, place)) is not None:
            name = found[1]
            place = found.end()
            if name is None:
                if text[found.start()] == "%":
                    self._take(found.start(), place)
                    if text.startswith("\n", place):  # an empty line ends a paragraph
                        origins.add("\n", self._file, place)
                elif found[0][1:] in macros:
                    place = self._expand(found[0][1:], found)
            elif name in macros:
                place = self._expand(name, found)
            elif name in _HANDLERS:
                place = _HANDLERS[name](self, found)
            elif "@" in name and name.partition("@")[0] in macros:
                place = self._expand(name.partition("@")[0], found)
        if not self._is_over:
            self._take(len(text), len(text))

    def _take(self, start: int, end: int) -> int:
        """Add the text before ``start`` and continue after ``end``."""
        taken = self._text[self._position : start]
        self._document.origins.add(taken, self._file, self._position)
        self._position = end
        return end

    def _say(self, reason: str, offset: int, detail: str) -> None:
        self._document.say(reason, self._file, offset, detail)

    def _expand(self, name: str, found: re.Match[str]) -> int:
        document, place = self._document, found.start() + 1 + len(name)
        try:
            done = document.macros.expand(name, self._text, place, self._arguments)
        except MathAMRError as exc:
            self._say("endless_macro", found.start(), str(exc))
            done = None
        if done is None:
            return place
        body, end = done
        before = self._text[max(self._position, found.start() - 60) : found.start()]
        before = before or document.origins.last[-60:]
        self._take(found.start(), end)
        joined = join_expansion(before, body, self._text[end : end + 1])
        document.origins.add(joined, self._file, found.start())
        return end

    def _define(self, found: re.Match[str]) -> int:
        place = found.end()
        read = read_definition(found[1], self._text, place, self._arguments)
        if read is None:
            return place
        macro, end = read
        if macro is None:
            shown = " ".join(self._text[found.start() : end][:60].split())
            detail = (
                f"expected parameters such as #1#2 in {shown!r}; it is not expanded"
            )
            self._say("unread_macro", found.start(), detail)
        else:
            body = name_operators(macro.body)
            self._document.macros.add(macro._replace(body=body))
        return self._take(found.start(), end)

    def _declare(self, found: re.Match[str]) -> int:
        """Read a declaration of the preamble, which is not text."""
        end = self._document.preamble.read(
            found[1],
            self._text,
            found.end(),
            self._arguments,
            self._document.macros.expand_text,
        )
        return found.end() if end is None else self._take(found.start(), end)

    def _begin(self, found: re.Match[str]) -> int:
        named = _ENVIRONMENT.match(self._text, found.end())
        if named is None:
            return found.end()
        name, end = named[1].strip(), named.end()
        preamble = self._document.preamble
        if name == "document":
            self._document.origins.forget(self._first)
            self._position = end
        elif name in preamble.comments:
            return self._skip_comment(name, found.start(), end)
        elif _VERBATIM.fullmatch(name):
            closed = self._find_end(name, end)
            return end if closed is None else closed.end()
        elif name in preamble.environments:
            return self._open_environment(name, found.start(), end)
        return end

    def _stop(self, found: re.Match[str]) -> int:
        self._is_over = True
        return self._take(found.start(), len(self._text))

    def _skip_comment(self, name: str, start: int, end: int) -> int:
        closed = self._find_end(name, end)
        if closed is None:
            detail = f"\\begin{{{name}}} has no end; what follows is read"
            self._say("open_comment", start, detail)
        return self._take(start, end if closed is None else closed.end())

    def _end(self, found: re.Match[str]) -> int:
        named = _ENVIRONMENT.match(self._text, found.end())
        if named is None:
            return found.end()
        name, end = named[1].strip(), named.end()
        if name == "document":
            return self._stop(found)
        if name in self._document.preamble.environments:
            self._take(found.start(), end)
            closing = self._document.preamble.environments[name][1]
            text = self._document.macros.expand_text(closing)
            self._document.origins.add(text, self._file, found.start())
        return end

    def _open_environment(self, name: str, start: int, end: int) -> int:
        opening, _ = self._document.preamble.environments[name]
        macros = LatexMacros()
        macros.add(opening)
        body, end = macros.expand(name, self._text, end, self._arguments) or ("", end)
        self._take(start, end)
        self._document.origins.add(
            self._document.macros.expand_text(body), self._file, start
        )
        return end

    def _find_end(self, name: str, place: int) -> re.Match[str] | None:
        if name not in self._ends:
            pattern = re.compile(rf"\\end[ \t]*\{{{re.escape(name)}\}}")
            self._ends[name] = NextMatch(pattern, self._text)
        return self._ends[name].after(place)

    def _verb(self, found: re.Match[str]) -> int:
        code = _VERB.match(self._text, found.end())
        return (code or found).end()

    def _url(self, found: re.Match[str]) -> int:
        """A percent sign of an address starts no comment."""
        address = _ADDRESS.match(self._text, found.end())
        if address is None:
            return found.end()
        self._take(found.end(), address.end())
        shown = address[0].replace("\\%", "%").replace("%", "\\%")
        self._document.origins.add(shown, self._file, found.end())
        return address.end()

    def _skip_false(self, found: re.Match[str]) -> int:
        end = self._arguments.skip_condition(found.end())
        return found.end() if end is None else self._take(found.start(), end)

    def _include(self, found: re.Match[str]) -> int:
        group = self._arguments.read_group(found.end())
        plain = _PLAIN_INPUT.match(self._text, found.end())
        if group is not None:
            name, end = group
        elif plain is not None and found[1] == "input":
            name, end = plain[1], plain.end()
        else:
            return found.end()
        self._take(found.start(), end)
        name = name.strip().strip('"')
        problem = self._document.include(name)
        if problem:
            detail = f"\\{found[1]}{{{name}}}: {problem}"
            self._say("unread_input", found.start(), detail)
        return end


_HANDLERS: dict[str, Callable[[_FileScan, re.Match[str]], int]] = {
    **dict.fromkeys(DEFINITIONS, _FileScan._define),
    **dict.fromkeys(LatexPreamble.COMMANDS, _FileScan._declare),
    **dict.fromkeys(("input", "include", "subfile"), _FileScan._include),
    **dict.fromkeys(("url", "href", "path", "nolinkurl"), _FileScan._url),
    **dict.fromkeys(("verb", "lstinline"), _FileScan._verb),
    "begin": _FileScan._begin,
    "end": _FileScan._end,
    "endinput": _FileScan._stop,
    "iffalse": _FileScan._skip_false,
}  # fmt: skip
