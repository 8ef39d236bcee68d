"""BERT's tokeniser: words cut into the longest pieces that the vocabulary has.

::

    "Unaffable proof."   ->   [CLS] un ##aff ##able proof . [SEP]
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

_LONGEST_WORD = 100
_CJK = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPieces:
    """A lower-case tokeniser with the vocabulary of a file, one piece a line."""

    def __init__(self, vocabulary: Path) -> None:
        pieces = vocabulary.read_text(encoding="utf-8").split("\n")
        self._ids = {piece: i for i, piece in enumerate(pieces) if piece}
        self._unknown = self._ids["[UNK]"]
        self._known_words: dict[str, list[int]] = {}

    def encode(self, text: str, longest: int) -> list[int]:
        """Return at most ``longest`` ids, ``[CLS]`` and ``[SEP]`` among them."""
        ids = [self._ids["[CLS]"]]
        for word in split_words(text):
            ids += self._pieces_of(word)
            if len(ids) >= longest:
                break
        return [*ids[: longest - 1], self._ids["[SEP]"]]

    def _pieces_of(self, word: str) -> list[int]:
        found = self._known_words.get(word)
        if found is None:
            found = self._known_words[word] = self._cut(word)
        return found

    def _cut(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((e for e in ends if mark + word[start:e] in self._ids), None)
            if end is None:
                return [self._unknown]
            pieces.append(self._ids[mark + word[start:end]])
            start = end
        return pieces


def split_words(text: str) -> Iterator[str]:
    """Yield words and punctuation marks, lower-case and without accents.

    >>> list(split_words("Gödel's x_1"))
    ['godel', "'", 's', 'x', '_', '1']
    """
    word = ""
    for character in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(character)
        if category == "Mn" or character in "\0\ufffd":
            continue
        is_blank = character.isspace() or category == "Zs"
        if category.startswith("C") and not is_blank:
            continue
        if is_blank or _stands_alone(character, category):
            if word:
                yield word
                word = ""
            if not is_blank:
                yield character
        else:
            word += character
    if word:
        yield word


def _stands_alone(character: str, category: str) -> bool:
    if category.startswith("P") or character in "$+<=>^`|~":
        return True
    code = ord(character)
    return code > 0x2E80 and any(low <= code <= high for low, high in _CJK)
