r"""Clean text: every formula becomes ``FORMULA_0, FORMULA_1, ...`` in reading order.

```
flat text      Let ⟦0⟧ satisfy $$x^2=2.$$Then ⟦1⟧th powers ...
clean text     Let FORMULA_0 satisfy FORMULA_1. Then FORMULA_2 th powers ...
formula_map    FORMULA_1 → id "12:1", LaTeX "x^2=2", offsets in the clean text
```

``⟦0⟧`` stands for two private-use characters around a number, so that no text of a
post can be taken for a formula. Besides the marked formulas, those written as ``$..$``,
``$$..$$``, ``\(..\)``, ``\[..\]`` or as a bare environment in the text are found.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import NamedTuple

from mathamr_kedro.records import CleanText, FormulaMention

VisualLookup = Callable[[str], str | None]
"""Formula id to visual id, ``None`` where the formula index does not know it."""

_OPEN, _CLOSE = "\ue001", "\ue002"  # around the number of a formula in a flat text
_LITERAL_DOLLAR, _LITERAL_BACKSLASH = "\ue003", "\ue004"  # of code: start no formula
_PRIVATE = re.compile("[\ue001-\ue004]")
_ENVIRONMENTS = (
    "align|aligned|alignat|eqnarray|equation|gather|gathered|multline|flalign|split"
    "|displaymath|math|cases|[pbvBV]?matrix|smallmatrix|array|IEEEeqnarray"
)
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
# Pandoc's rule for single dollars keeps prices apart: no blank after the first
# dollar or before the second, no digit after the second.
_FORMULA = re.compile(
    rf"{_OPEN}(?P<mark>\d+){_CLOSE}"
    rf"|(?<!\\)\$\$(?P<display>[^{_OPEN}]+?)(?<!\\)\$\$"
    rf"|(?<!\\)\$(?=[^\s$])(?P<inline>(?:[^$\\{_OPEN}\n]|\\.|\n(?!\n))*?)(?<!\s)\$(?!\d)"
    rf"|(?<!\\)\\\((?P<round>[^{_OPEN}]+?)\\\)"
    rf"|(?<!\\)\\\[(?P<square>[^{_OPEN}]+?)\\\]"
    rf"|(?P<environment>\\begin\{{(?P<name>(?:{_ENVIRONMENTS})\*?)\}}"
    rf"[^{_OPEN}]+?\\end\{{(?P=name)\}})",
    re.DOTALL,
)
_WRAPPED = re.compile(r"\$\$(.*)\$\$|\$(.*)\$|\\\[(.*)\\\]|\\\((.*)\\\)", re.DOTALL)
_BLANK_END = r"(?:\s|~|\\[ ,;:!>]|\\q?quad\b)*"
_PUNCTUATED = re.compile(
    rf"^(.*?[^\s\\.,;:?~]){_BLANK_END}([.,;:?]){_BLANK_END}((?:\\end\{{[a-zA-Z]+\*?\}})?)$",
    re.DOTALL,
)
_MAX_DIGITS = 9
"""Of the number in a mark; longer ones are none of ours."""
_LITERAL_PLACEHOLDER = re.compile(r"FORMULA_(?=\d)")
_WHITE = re.compile(r"\s+")


def strip_delimiters(latex: str) -> str:
    r"""Remove white space and one pair of outer math delimiters.

    >>> strip_delimiters(r" $$x+1$$ "), strip_delimiters(r"\(x\)")
    ('x+1', 'x')
    """
    latex = latex.strip()
    if latex[:1] not in ("$", "\\"):
        return latex
    wrapped = _WRAPPED.fullmatch(latex)
    if wrapped is None:
        return latex
    inner = next(group for group in wrapped.groups() if group is not None)
    return latex if "$" in inner.replace(r"\$", "") else inner.strip()


def split_punctuation(latex: str) -> tuple[str, str]:
    r"""Split the sentence's punctuation off the end of a formula.

    >>> split_punctuation(r"x^2 = 2\,."), split_punctuation("n!")
    (('x^2 = 2', '.'), ('n!', ''))
    >>> split_punctuation(r"1, 2, ..."), split_punctuation(r"x\,")
    (('1, 2, ...', ''), ('x\\,', ''))
    """
    match = (
        _PUNCTUATED.match(latex) if latex[-1:] in ".,;:?}~ " or _spaced(latex) else None
    )
    if match is None:
        return latex, ""
    return match[1] + match[3], match[2]


def _spaced(latex: str) -> bool:
    return latex[-2:-1] == "\\" or latex.endswith("quad")


def visual_id_of_latex(latex: str) -> str:
    """Return the visual id of a formula that the formula index does not know.

    Formulas whose LaTeX differs in white space alone share it.
    """
    squeezed = _WHITE.sub("", latex).encode()
    return "x" + hashlib.blake2b(squeezed, digest_size=8).hexdigest()


class _Found(NamedTuple):
    """A formula as it was found; the id is missing where the source gave none."""

    formula_id: str | None
    latex: str


class FormulaMarks:
    """The formulas of a text, and the marks that stand for them in its flat form.

    >>> marks = FormulaMarks()
    >>> flat = marks.mark_delimited("so $x^2$ and ") + marks.mark("y", formula_id="7")
    >>> marks.place(flat, owner="12").text
    'so FORMULA_0 and FORMULA_1'
    """

    def __init__(self) -> None:
        self._formulas: list[_Found] = []

    @property
    def latex(self) -> list[str]:
        """LaTeX of the marked formulas, as it was found."""
        return [formula.latex for formula in self._formulas]

    def mark(self, latex: str, formula_id: str | None = None) -> str:
        """Take a formula up and return its mark for a flat text."""
        self._formulas.append(_Found(formula_id, latex))
        return f"{_OPEN}{len(self._formulas) - 1}{_CLOSE}"

    def mark_delimited(self, text: str) -> str:
        """Replace the delimited formulas of a plain text (Markdown, LaTeX) by marks."""

        def mark(match: re.Match[str]) -> str:
            if match["mark"] is not None:
                return match[0]
            return self.mark(self._formula_of(match).latex)

        return _FORMULA.sub(mark, text)

    @staticmethod
    def clear(text: str) -> str:
        """Drop private-use characters that a source brought along."""
        return _PRIVATE.sub("", text) if _PRIVATE.search(text) else text

    @staticmethod
    def protect_code(text: str) -> str:
        """Hide the dollars and backslashes of code from the search for formulas."""
        return text.replace("$", _LITERAL_DOLLAR).replace("\\", _LITERAL_BACKSLASH)

    def place(
        self,
        flat: str,
        owner: str,
        find_visual_id: VisualLookup = lambda formula_id: None,
    ) -> CleanText:
        """Number the formulas of a flat text and map each placeholder to its formula.

        Args:
            flat: text with marks.
            owner: id of the post or topic; formulas without an id get ``owner:n``.
            find_visual_id: looks a formula id up in the formula index.
        """
        if "FORMULA_" in flat:
            flat = _LITERAL_PLACEHOLDER.sub("FORMULA-", flat)
        pattern = _FORMULA if "$" in flat or "\\" in flat else _MARK
        text = _Text()
        mentions: list[FormulaMention] = []
        position = 0
        for match in pattern.finditer(flat):
            found = self._formula_of(match)
            latex = strip_delimiters(self.clear(found.latex))
            if not latex:
                continue
            text.add(_plain(flat[position : match.start()]))
            position = match.end()
            body, punctuation = split_punctuation(latex)
            number = len(mentions)
            formula_id = found.formula_id or f"{owner}:{number}"
            start = text.add_placeholder(f"FORMULA_{number}")
            mentions.append(
                FormulaMention(
                    f"FORMULA_{number}",
                    formula_id,
                    find_visual_id(formula_id) or visual_id_of_latex(body),
                    body,
                    start,
                    text.length,
                )
            )
            if punctuation and flat[position : position + 1] != punctuation:
                text.add_punctuation(punctuation)
        text.add(_plain(flat[position:]))
        return CleanText(text.value, tuple(mentions))

    def _formula_of(self, match: re.Match[str]) -> _Found:
        if match.re is _MARK:
            return self._look_up(match[1])
        groups = match.groupdict()
        if groups["mark"] is not None:
            return self._look_up(groups["mark"])
        kinds = ("display", "inline", "round", "square", "environment")
        return _Found(None, next(groups[k] for k in kinds if groups[k] is not None))

    def _look_up(self, number: str) -> _Found:
        """Return a marked formula; a mark that nobody made here is an empty one."""
        place = int(number) if len(number) < _MAX_DIGITS else len(self._formulas)
        known = place < len(self._formulas)
        return self._formulas[place] if known else _Found(None, "")


def _plain(text: str) -> str:
    """Give escaped dollars and the characters of code back; drop empty marks."""
    if "\\$" in text:
        text = text.replace("\\$", "$")
    if _OPEN in text:
        text = _MARK.sub("", text)
    return text.replace(_LITERAL_DOLLAR, "$").replace(_LITERAL_BACKSLASH, "\\")


class _Text:
    """Pieces of a text that never glue a placeholder to a word."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._after_placeholder = False
        self._last = ""
        self.length = 0

    @property
    def value(self) -> str:
        return "".join(self._pieces)

    def add(self, text: str) -> None:
        if not text:
            return
        if self._after_placeholder and (text[0].isalnum() or text[0] == "_"):
            self._append(" ")
        self._append(text)
        self._after_placeholder = False

    def add_placeholder(self, name: str) -> int:
        """Append the placeholder and return its offset."""
        if self._last and not (self._last.isspace() or self._last in "([{\"'-–—/“‘"):
            self._append(" ")
        start = self.length
        self._append(name)
        self._after_placeholder = True
        return start

    def add_punctuation(self, mark: str) -> None:
        """Append the mark that stood inside the formula; a word after it is parted."""
        self._append(mark)
        self._after_placeholder = True

    def _append(self, text: str) -> None:
        self._pieces.append(text)
        self._last = text[-1]
        self.length += len(text)
