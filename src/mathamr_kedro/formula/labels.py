"""Labels: a type and a value, ``T!value``, with the value cleaned the published way."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

BLANK = "W!"
"""Label of a place where nothing stands."""

ERROR = "E!"
"""Label of a part that could not be read."""

_ESCAPES = str.maketrans(
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
_INVISIBLE = frozenset("\u2061\u2062\u2063\u2064")
_COMPAT = str.maketrans({"\u2212": "-", "\u2016": "\u2225"})


_LONGEST_REMEMBERED = 40


def clean_text(text: str | None) -> str:
    r"""Return the text of an element as it stands in a label.

    Outer white space goes, the characters that bracket strings need are escaped, and
    an invisible operator (apply, times, separator, plus) counts as no text.

    >>> clean_text(" a, b? "), clean_text("[0"), clean_text("\u2062"), clean_text(None)
    ('a&comma; b&quest;', '&lsqb;0', '', '')
    """
    if not text:
        return ""
    if len(text) > _LONGEST_REMEMBERED:
        return _clean(text)
    return _clean_short(text)


def _clean(text: str) -> str:
    value = text.strip()
    if value.isalnum():
        return value
    return "" if value in _INVISIBLE else value.translate(_ESCAPES)


# A corpus says the same few thousand things millions of times.
_clean_short = lru_cache(maxsize=65536)(_clean)


def escape_label(label: str) -> str:
    """Return a label that a bracket string can hold; a lone comma may stay."""
    return label if label == "," else label.translate(_ESCAPES)


def write_as_arqmath(text: str) -> str:
    """Return text with the minus and the norm bar that ARQMath's LaTeXML wrote.

    LaTeXML 0.8.5 wrote ``-`` and ``∥``; later versions write ``−`` and ``‖``.
    """
    return text.translate(_COMPAT)


def normalise_label(label: str) -> str:
    """Return the label under NFKC: ``V!𝑥`` and ``V!x`` become one.

    NFKC also merges ``ℝ`` with ``R`` and writes ``…`` as three dots; it belongs to
    building a vocabulary, never to building a tree.
    """
    return unicodedata.normalize("NFKC", label)
