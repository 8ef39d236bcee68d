"""The slow twin of ``amr/chunking.py``: each mark looks at the whole text around it."""

from __future__ import annotations

import re

# Lists of words are no part of what is compared: both have the same.
from mathamr_kedro.amr.chunking import (
    _AFTER_FORMULA,
    _CUT_MARKS,
    _GLUED_END,
    _INITIAL,
    _LIST_MARK,
    _NEVER_FINAL,
    _SELDOM_FINAL,
    _STARTERS,
    _TOKEN,
    _normalise_text,
)

_END = re.compile(r"(?:[.?!…]+|[.?!…]*[。？！])[\"'”’»)\]}*_]*(?=\s|$)")
_LAST_WORD = re.compile(r"([^\s(\[\"'“”]+?)[.?!…。？！]*[\"'”’»)\]}*_]*$")


def split_sentences(text: str) -> list[str]:
    """Split ``text`` into sentences; nothing but blanks is lost.

    A blank line always ends a sentence, a single line break only after an end mark,
    before a list mark, or after a colon that opens a list.
    """
    sentences: list[str] = []
    for block in _split_lines(_normalise_text(text)):
        sentences.extend(_split_block(block))
    return sentences


def _split_lines(text: str) -> list[str]:
    blocks: list[str] = []
    for line in text.split("\n"):
        starts_block = not blocks or not blocks[-1] or _LIST_MARK.match(line)
        if not line or starts_block:
            blocks.append(line)
        else:
            blocks[-1] += " " + line
    return [block for block in blocks if block]


def _split_block(block: str) -> list[str]:
    cuts = [m.end() for m in _END.finditer(block) if _ends_sentence(block, m)]
    cuts += [m.end() for m in _GLUED_END.finditer(block)]
    cuts += [
        m.end(1) for m in _AFTER_FORMULA.finditer(block) if m.group(2) in _STARTERS
    ]
    sentences: list[str] = []
    start = 0
    for cut in [*sorted(set(cuts)), len(block)]:
        piece = block[start:cut].strip()
        if not piece:
            continue
        if sentences and not any(map(str.isalnum, piece)):
            sentences[-1] += " " + piece
        else:
            sentences.append(piece)
        start = cut
    return sentences


def _ends_sentence(block: str, match: re.Match[str]) -> bool:
    before, after = block[: match.end()], block[match.end() :].lstrip()
    if not after:
        return True
    mark = match.group()
    next_is_lower = after[0].islower()
    if "?" in mark or "!" in mark:
        return not (next_is_lower and mark[-1] in ")]}\"”’'")
    word_match = _LAST_WORD.search(before[: match.start() + 1])
    word = word_match.group(1) if word_match else ""
    lowered = word.lower()
    if lowered in _NEVER_FINAL or _is_list_mark(block, match.start(), word):
        return False
    if _INITIAL.fullmatch(word) and word != "I" and not next_is_lower:
        # "G. H. Hardy", but "over the field K. Then".
        next_word = re.match(r"\w+", after)
        return next_word is not None and next_word.group() in _STARTERS
    if next_is_lower:
        return not mark.startswith((".)", "..", "…")) and (
            len(word) > 1 and lowered not in _SELDOM_FINAL
        )
    return True


def _is_list_mark(block: str, position: int, word: str) -> bool:
    """Tell whether ``word`` is the number or letter that opens the block."""
    return position == len(word) and _LIST_MARK.match(word + ". ") is not None


def cut_long(sentence: str, max_tokens: int) -> list[str]:
    """Cut a sentence above the limit, after a mark in its last quarter if possible."""
    pieces: list[str] = []
    while True:
        tokens = list(_TOKEN.finditer(sentence))
        if len(tokens) <= max_tokens:
            return [*pieces, sentence]
        cut = max_tokens
        for n in range(max_tokens, max(1, max_tokens - max_tokens // 4), -1):
            if tokens[n - 1].group() in _CUT_MARKS:
                cut = n
                break
        end = tokens[cut].start()
        pieces.append(sentence[:end].strip())
        sentence = sentence[end:].strip()
