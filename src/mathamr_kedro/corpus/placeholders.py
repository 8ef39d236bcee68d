r"""Clean text: every formula becomes ``FORMULA_0, FORMULA_1, ...`` in reading order.

```
flat text      Let ⟦0⟧ satisfy $$x^2=2.$$Then ⟦1⟧th powers ...
clean text     Let FORMULA_0 satisfy FORMULA_1. Then FORMULA_2 th powers ...
formula_map    FORMULA_1 → id "12:1", LaTeX "x^2=2", offsets in the clean text
```

``⟦0⟧`` stands for two private-use characters around a number, so that no text of a post
can be mistaken for a formula. Besides the marked formulas, those written as ``$..$``,
``$$..$$``, ``\(..\)``, ``\[..\]`` or as a bare environment in the text are found.

The formula files take precedence: LaTeX, visual id and trees of a formula with an id
come from its row, its position from the text. Each difference has a reason:

=============================  ====================================================
``formula_not_in_index``       no row has this id: the LaTeX of the text is used
``formula_of_other_post``      its row belongs to another post, comment or topic; used
                               only if both say the same
``formula_without_latex``      its row has no LaTeX: that of the text is used
``formula_without_text``       the text has an id and no LaTeX: that of the row is used
``formula_other_punctuation``  only the mark that ends the sentence differs
``formula_other_spelling``     spelt differently, rendered alike: ``f'``, ``f^{\prime}``
``formula_other_latex``        another formula altogether
=============================  ====================================================
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import NamedTuple

from mathamr_kedro.base.records import CleanText, Failure, FormulaMention
from mathamr_kedro.corpus.delimiters import (
    CLOSE,
    OPEN,
    Delimited,
    find_formulas,
    split_punctuation,
    strip_delimiters,
)
from mathamr_kedro.corpus.raw import make_failure
from mathamr_kedro.corpus.scanning import unescape_latex

REASONS = (
    "formula_not_in_index",
    "formula_of_other_post",
    "formula_without_latex",
    "formula_without_text",
    "formula_other_punctuation",
    "formula_other_spelling",
    "formula_other_latex",
)
"""How a text and the formula files may differ."""

_SHOWN = 60
"""Characters of LaTeX in a message."""

_SPELLINGS = {
    r"\prime": "'", r"\ne": r"\neq", r"\le": r"\leq", r"\ge": r"\geq",
    r"\to": r"\rightarrow", r"\gets": r"\leftarrow", r"\land": r"\wedge",
    r"\lor": r"\vee", r"\lnot": r"\neg", r"\owns": r"\ni", r"\lbrace": r"\{",
    r"\rbrace": r"\}", r"\lbrack": "[", r"\rbrack": "]", r"\vert": "|",
    r"\Vert": r"\|", r"\lvert": "|", r"\rvert": "|", r"\lVert": r"\|",
    r"\rVert": r"\|", r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\ast": "*",
    r"\lt": "<", r"\gt": ">",
}  # fmt: skip

_UNSEEN = frozenset(
    r"\left \right \middle \big \Big \bigg \Bigg \bigl \bigr \Bigl \Bigr \biggl \biggr "
    r"\Biggl \Biggr \displaystyle \textstyle \limits \nolimits \quad \qquad \, \; \: "
    r"\! \> { } ~".split()
) | {"\\ ", "\\\n"}
_TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|\S", re.DOTALL)
_LITERAL_DOLLAR, _LITERAL_BACKSLASH = "\ue003", "\ue004"  # of code: start no formula
_PRIVATE = re.compile("[\ue001-\ue006]")
_MARK = re.compile(f"{OPEN}\\d+{CLOSE}")
MAX_FORMULAS = 2000
"""Formulas of a text; it is cut before the next one. Formulas, and as many sentences,
have a vector each, and a Qdrant server accepts 4,095 of 256 numbers for a post."""

_MAX_DIGITS = 9
"""Digits of the number in a mark; longer ones are not ours."""

_LITERAL_PLACEHOLDER = re.compile(r"FORMULA_(?=\d)")
_WHITE = re.compile(r"\s+")


class FormulaRow(NamedTuple):
    """The row of a formula in the formula files."""

    visual_id: str
    latex: str = ""
    """Without delimiters; empty if the files have none."""
    owner: str = ""
    """The post, the topic or, with a ``c`` before it, the comment; empty: unknown."""


class Disagreement(NamedTuple):
    """A difference between a text and the formula files."""

    formula_id: str
    reason: str
    detail: str
    is_its_row: bool = True
    """Whether the row is nevertheless that of this formula."""

    def to_failure(self, source: str, place: str, owner: str) -> Failure:
        """Return it as a failure of a record that is kept."""
        return make_failure(source, place, self.reason, self.detail, owner, kept=True)


def find_disagreement(
    formula_id: str, latex: str, owner: str, row: FormulaRow | None
) -> Disagreement | None:
    """Compare a formula of a text with its row; ``None``: they agree."""
    if row is None:
        detail = f"formula {formula_id} has no row in the formula files"
        return Disagreement(formula_id, "formula_not_in_index", detail, False)
    reason = _compare(latex, row.latex)
    shown = f"{latex[:_SHOWN]!r} in the text, {row.latex[:_SHOWN]!r} in the files"
    if row.owner and row.owner != owner:
        detail = f"formula {formula_id} belongs to {row.owner}: {shown}"
        is_same = reason != "formula_other_latex"
        return Disagreement(formula_id, "formula_of_other_post", detail, is_same)
    if reason is None:
        return None
    return Disagreement(formula_id, reason, f"formula {formula_id}: {shown}")


def _compare(text: str, file: str) -> str | None:
    r"""Return how two formulas differ, beyond white space.

    >>> _compare("f'(x)", r"f^{\prime}(x)"), _compare("x = 2", "x=2.")
    ('formula_other_spelling', 'formula_other_punctuation')
    """
    if _squeeze(text) == _squeeze(file):
        return None
    if not file:
        # Pools of trees have no LaTeX; there, the text shows a bracket string.
        is_tree = text.startswith("[") and text.endswith("]") and "!" in text
        return None if is_tree else "formula_without_latex"
    if not text:
        return "formula_without_text"
    text, file = split_punctuation(text)[0], split_punctuation(file)[0]
    if _squeeze(text) == _squeeze(file):
        return "formula_other_punctuation"
    if _list_symbols(text) == _list_symbols(file):
        return "formula_other_spelling"
    return "formula_other_latex"


def _squeeze(latex: str) -> str:
    return "".join(latex.split())


def _list_symbols(latex: str) -> list[str]:
    r"""Return the rendered symbols in one spelling.

    >>> _list_symbols(r"f^{\prime} \left( x\right)") == _list_symbols("f'(x)")
    True
    """
    tokens = _TOKEN.findall(unescape_latex(latex))  # some were escaped twice
    tokens = [_SPELLINGS.get(token, token) for token in tokens]
    seen = [token for token in tokens if token not in _UNSEEN]
    pairs = zip(seen, [*seen[1:], ""], strict=True)
    return [token for token, after in pairs if (token, after) != ("^", "'")]


FormulaLookup = Callable[[str], FormulaRow | None]
"""Formula id to its row in the formula files, ``None`` if they have none."""

_NO_ROW = FormulaRow("")


def visual_id_of_latex(latex: str) -> str:
    """Return the visual id of a formula that the formula index does not know.

    Formulas whose LaTeX differs only in white space share it.
    """
    squeezed = _WHITE.sub("", latex).encode()
    return "x" + hashlib.blake2b(squeezed, digest_size=8).hexdigest()


def clear_private(text: str) -> str:
    """Drop private-use characters of a source."""
    return _PRIVATE.sub("", text) if _PRIVATE.search(text) else text


def protect_code(text: str) -> str:
    """Hide the dollars and backslashes of code from the search for formulas."""
    return text.replace("$", _LITERAL_DOLLAR).replace("\\", _LITERAL_BACKSLASH)


class _Found(NamedTuple):
    """A formula as found; the id is missing if the source has none."""

    formula_id: str | None
    latex: str
    mathml: str = ""


class FormulaMarks:
    """The formulas of a text, and the marks that stand for them in its flat form.

    >>> marks = FormulaMarks()
    >>> flat = marks.mark_delimited("so $x^2$ and ") + marks.mark("y", formula_id="7")
    >>> marks.place(flat, owner="12").text
    'so FORMULA_0 and FORMULA_1'
    """

    def __init__(self) -> None:
        self._formulas: list[_Found] = []
        self.disagreements: list[Disagreement] = []
        """Differences between the text and the formula files, once placed."""
        self.mathml: dict[str, str] = {}
        """MathML of formulas that have some, by their ids, once placed."""
        self.is_cut = False
        """Whether the text had more formulas than it may have, once placed."""

    @property
    def latex(self) -> list[str]:
        """LaTeX of the marked formulas, as found."""
        return [formula.latex for formula in self._formulas]

    def mark(self, latex: str, formula_id: str | None = None, mathml: str = "") -> str:
        """Add a formula and return its mark for a flat text."""
        self._formulas.append(_Found(formula_id, latex, mathml))
        return f"{OPEN}{len(self._formulas) - 1}{CLOSE}"

    def mark_delimited(self, text: str, is_latex: bool = False) -> str:
        """Replace the delimited formulas of a plain text (Markdown, LaTeX) by marks."""
        pieces, position = [], 0
        for found in find_formulas(text, is_latex):
            if found.mark is None:
                pieces += [text[position : found.start], self.mark(found.latex)]
                position = found.end
        return "".join([*pieces, text[position:]])

    def place(
        self, flat: str, owner: str, find_row: FormulaLookup | None = None
    ) -> CleanText:
        """Number the formulas of a flat text and map each placeholder to its formula.

        A formula with an id takes its LaTeX and visual id, and thereby its trees, from
        its row. The mark that ends the sentence stays in the text.

        Args:
            flat: text with marks.
            owner: id of the post or topic; formulas without an id get ``owner:n``.
            find_row: looks a formula id up in the formula files; ``None`` if the
                collection has none.
        """
        if "FORMULA_" in flat:
            flat = _LITERAL_PLACEHOLDER.sub("FORMULA-", flat)
        text = _Text()
        mentions: list[FormulaMention] = []
        position = 0
        for place in find_formulas(flat):
            found = self._formula_of(place)
            latex = strip_delimiters(clear_private(found.latex))
            formula_id, row = self._settle(found.formula_id, latex, owner, find_row)
            if not latex and not row.latex:
                continue
            if len(mentions) == MAX_FORMULAS:
                self.is_cut, flat = True, flat[: place.start]
                break
            text.add(_plain(flat[position : place.start]))
            position = place.end
            body, punctuation = split_punctuation(latex)
            number = len(mentions)
            if row.latex:
                body, _ = split_punctuation(row.latex)
            if found.mathml:
                self.mathml[formula_id or f"{owner}:{number}"] = found.mathml
            start = text.add_placeholder(f"FORMULA_{number}")
            mentions.append(
                FormulaMention(
                    f"FORMULA_{number}",
                    formula_id or f"{owner}:{number}",
                    row.visual_id or visual_id_of_latex(body),
                    body,
                    start,
                    text.length,
                )
            )
            if punctuation and flat[position : position + 1] != punctuation:
                text.add_punctuation(punctuation)
        text.add(_plain(flat[position:]))
        return CleanText(text.value, tuple(mentions))

    def _settle(
        self,
        formula_id: str | None,
        latex: str,
        owner: str,
        find_row: FormulaLookup | None,
    ) -> tuple[str | None, FormulaRow]:
        """Return id and row of a formula; note where the row and the text disagree.

        The id of another post's formula is not the formula's own, and is dropped.
        """
        if formula_id is None or find_row is None:
            return formula_id, _NO_ROW
        row = find_row(formula_id)
        problem = find_disagreement(formula_id, latex, owner, row)
        if problem is not None:
            self.disagreements.append(problem)
        if row is None:
            return formula_id, _NO_ROW
        if problem is not None and not problem.is_its_row:
            return None, _NO_ROW
        return formula_id, row

    def _formula_of(self, place: Delimited) -> _Found:
        if place.mark is None:
            return _Found(None, place.latex)
        is_known = len(place.mark) < _MAX_DIGITS
        is_known = is_known and int(place.mark) < len(self._formulas)
        return self._formulas[int(place.mark)] if is_known else _Found(None, "")


def _plain(text: str) -> str:
    """Restore escaped dollars and the characters of code; drop empty marks."""
    if "\\$" in text:
        text = text.replace("\\$", "$")
    if OPEN in text:
        text = _MARK.sub("", text)
    return text.replace(_LITERAL_DOLLAR, "$").replace(_LITERAL_BACKSLASH, "\\")


class _Text:
    """Pieces of a text that keep placeholders and words apart."""

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
        """Append punctuation from inside the formula, apart from a word after it."""
        self._append(mark)
        self._after_placeholder = True

    def _append(self, text: str) -> None:
        self._pieces.append(text)
        self._last = text[-1]
        self.length += len(text)
