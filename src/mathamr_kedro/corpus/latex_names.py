"""What commands of LaTeX stand for in a text: symbols, accents, marks of lists."""

from __future__ import annotations

import re
import unicodedata

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
"""Arguments that are no text; those behind them are."""

ENVIRONMENT_ARGUMENTS = {
    **dict.fromkeys(
        "tabular array multicols minipage longtable wrapfigure adjustbox".split(), 1
    ),
    **dict.fromkeys(("tabular*", "tabularx", "list"), 2),
    "thebibliography": 1,
    "figure": 0, "figure*": 0, "table": 0, "table*": 0,
}  # fmt: skip
"""Arguments of environments that are no text."""

_REFERRED = {
    "eq": "equation", "eqn": "equation", "equation": "equation", "thm": "theorem",
    "lem": "lemma", "prop": "proposition", "cor": "corollary", "def": "definition",
    "defn": "definition", "rem": "remark", "rmk": "remark", "ex": "example",
    "exer": "exercise", "conj": "conjecture", "sec": "section", "subsec": "section",
    "chap": "chapter", "app": "appendix", "fig": "figure", "tab": "table",
    "item": "item", "it": "item", "conclusion": "item",
    **{
        name: name
        for name in (
            "theorem", "lemma", "proposition", "corollary", "definition", "remark",
            "example", "exercise", "conjecture", "section", "chapter", "appendix",
            "figure", "table", "situation", "claim", "step", "part", "condition",
        )
    },
}  # fmt: skip
_WORD = re.compile(r"[a-z]+")
_KINDS = frozenset(
    (*_REFERRED.values(), "situations", "corollaries", "appendices", "axiom", "eq",
     "eqs", "problem", "question", "fact", "note", "subsection", "paragraph", "diagram")
)  # fmt: skip
_NAMED = frozenset(
    "theorem lemma proposition corollary definition proof remark example exercise "
    "claim conjecture problem solution question".split()
)
_STYLE = re.compile(r"\\(arabic|alph|Alph|roman|Roman)\*?\s*(?:\{\w+\})?\*?")
_PLAIN_STYLE = re.compile(r"(?<![a-zA-Z\\])([1aAiI])(?![a-zA-Z])")
_PLAIN = {"1": "arabic", "a": "alph", "A": "Alph", "i": "roman", "I": "Roman"}
_ROMAN = (
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)
_LEVELS = ("arabic", "alph", "roman", "Alph")

# "Lemma \ref{x}" leaves "Lemma"; a number in parentheses leaves what it numbers.
_REFERENCE = re.compile(
    r"(?P<opened>\()?\\(?P<command>(?:eq|auto|name|page|thm|[cCvV])?ref)\*?\s*"
    r"\{(?P<label>[^{}]*)\}(?:[ \t]{0,9}(?:\n[ \t]{0,9})?(?P<closed>\)))?"
)
_BEFORE = re.compile(
    r"(?P<word>(?<![a-zA-Z])[a-zA-Z]*)(?P<blank>[ \t~]*(?:\n[ \t]*)?)\Z"
)
_LOOK_BACK = 40
# Accents stand in the words of formulas too.
_ACCENT = re.compile(
    r"\\([`'^\"~=.])[ \t]*(?:\{\\?([a-zA-Z])\}|\\([ij])(?![a-zA-Z])|([a-zA-Z]))"
)


class LatexWords:
    """Words that LaTeX prints of itself: marks of a list, names of what is numbered.

    Args:
        name: of the environment.
        option: its optional argument, which may say how items are numbered.
        level: how many numbered lists are around it.
    """

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
        r"""Return the mark of the next item.

        >>> numbered = LatexWords("enumerate", r"label=(\roman*)", 0)
        >>> numbered.next_mark(), numbered.next_mark()
        ('(i) ', '(ii) ')
        """
        if not self.is_numbered:
            return "- "
        self._count += 1
        return f"{self._before}{_write_number(self._count, self._style)}{self._after} "

    def set(self, count: int) -> None:
        """Go on after another number."""
        self._count = count

    @staticmethod
    def write_roman(number: int) -> str:
        """Return a number in small Roman numerals."""
        written = ""
        for value, letters in _ROMAN:
            count, number = divmod(number, value)
            written += count * letters
        return written

    @staticmethod
    def replace_references(text: str) -> str:
        """Put what references name in their place, unless the word before says it."""
        pieces, position = [], 0
        for found in _REFERENCE.finditer(text):
            first = max(position, found.start() - _LOOK_BACK)
            before = _BEFORE.search(text[first : found.start()])
            word, blank = (before["word"], before["blank"]) if before else ("", "")
            opened, closed = found["opened"] or "", found["closed"] or ""
            name = LatexWords.name_reference(found["label"])
            start = found.start()
            if found["command"] == "eqref" or (opened and closed):
                shown = f"({name or 'equation'})" + ("" if opened else closed)
            else:
                if LatexWords.names_statement(word) and not opened:
                    name = ""
                is_small = name in ("equation", "item")
                shown = f"{opened}{name if is_small else name.capitalize()}{closed}"
                start -= 0 if name or opened else len(blank)
            pieces += [text[position:start], shown]
            position = found.end()
        return "".join([*pieces, text[position:]])

    @staticmethod
    def put_accents(text: str) -> str:
        """Replace letters with accents, those in the words of formulas too."""
        return _ACCENT.sub(_put_accent, text)

    @staticmethod
    def name_reference(label: str) -> str:
        """Return what a label names, by a word in it.

        >>> [LatexWords.name_reference(x) for x in ("eq:pi", "algebra-lemma-zorn", "x")]
        ['equation', 'lemma', '']
        """
        words = _WORD.findall(label.split(",", 1)[0].lower())
        return next((_REFERRED[word] for word in words if word in _REFERRED), "")

    @staticmethod
    def names_statement(word: str) -> bool:
        """Tell whether a word, singular or plural, says what a number stands for."""
        lower = word.lower()
        return lower in _KINDS or lower.removesuffix("s") in _KINDS

    @staticmethod
    def name_statement(environment: str) -> str | None:
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
        written = LatexWords.write_roman(number)
        return written if style == "roman" else written.upper()
    return str(number)


def _put_accent(found: re.Match[str]) -> str:
    letter = found[2] or found[3] or found[4]
    return unicodedata.normalize("NFC", letter + ACCENTS[found[1]])
