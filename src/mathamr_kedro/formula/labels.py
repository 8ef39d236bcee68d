"""Labels: a type and a value, ``T!value``, with the value cleaned the published way."""

from __future__ import annotations

from functools import lru_cache

BLANK = "W!"
"""Label of an empty place."""

ERROR = "E!"
"""Label of a part that could not be read."""

ESCAPES = str.maketrans(
    {
        "\t": "\\t",
        "\n": "\\n",
        "\r": "\\r",
        "?": "&quest;",
        ",": "&comma;",
        "[": "&lsqb;",
        "]": "&rsqb;",
    }
)
"""How labels write the characters that bracket strings need."""

ARQMATH_SPELLING = str.maketrans({"\u2212": "-", "\u2016": "\u2225"})
"""How the ARQMath files write minus and norm bars: LaTeXML 0.8.5 wrote ``-`` and ``∥``;
later versions write ``−`` and ``‖``."""

_INVISIBLE = frozenset("\u2061\u2062\u2063\u2064")
_MAX_REMEMBERED = 40


def clean_text(text: str | None) -> str:
    r"""Return the text of an element as it is in a label.

    Outer white space goes, the characters that bracket strings need are escaped, and
    an invisible operator (apply, times, separator, plus) counts as no text.

    >>> clean_text(" a, b? "), clean_text("[0"), clean_text("\u2062"), clean_text(None)
    ('a&comma; b&quest;', '&lsqb;0', '', '')
    """
    if not text:
        return ""
    if len(text) > _MAX_REMEMBERED:
        return _clean(text)
    return _clean_short(text)


def _clean(text: str) -> str:
    value = text.strip()
    if value.isalnum():
        return value
    return "" if value in _INVISIBLE else value.translate(ESCAPES)


# A corpus says the same few thousand things millions of times.
_clean_short = lru_cache(maxsize=65536)(_clean)


def escape_label(label: str) -> str:
    """Return a label that a bracket string can hold; a lone comma may stay."""
    return label if label == "," else label.translate(ESCAPES)
