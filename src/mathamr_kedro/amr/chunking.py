"""Sentences of mathematical prose, and chunks of them (thesis, section 3.1).

A full stop ends a sentence unless it belongs to an abbreviation (``i.e.``, ``w.r.t.``),
an initial (``G. H. Hardy``), a number or a list mark. Posts are informal: sentences
start in lower case, end in a displayed formula without a stop, or are in lists.

>>> split_sentences("Let FORMULA_0 be prime, i.e. FORMULA_1. show FORMULA_2? Thanks")
['Let FORMULA_0 be prime, i.e. FORMULA_1.', 'show FORMULA_2?', 'Thanks']
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_CHUNK_TOKENS = 500
"""The thesis' limit of a chunk."""

_TOKEN = re.compile(r"FORMULA_\d+|\w+(?:['’]\w+)?|[^\w\s]")
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\x00-\x08]"
)

_GLUED = re.compile(rf"(FORMULA_\d+){_INVISIBLE.pattern}+(?=\w)")
"""Without a blank, a digit after FORMULA_1 would change its number."""

# Abbreviations after which no sentence ends, whatever follows ...
_NEVER_FINAL = frozenset(
    "i.e e.g ie eg cf resp w.r.t wrt s.t vs viz eq eqs eqn fig figs thm prop cor "
    "lem def sec ch chap ex ref refs dr mr mrs ms prof st no nos vol p pp approx "
    "incl ca al w.l.o.g wlog i.i.d r.v a.k.a dept est".split()
)  # fmt: skip
# ... and those after which one ends only if the next word is capitalised.
_SELDOM_FINAL = frozenset("etc a.e a.s q.e.d ed inc u.s u.k a.m p.m jr sr".split())

# Possessive, and from the first mark of a row: rows of marks are read once.
_END = re.compile(r"(?<![.?!…])(?:[.?!…]++|[.?!…]*+[。？！])[\"'”’»)\]}*_]*+(?=\s|$)")
_GLUED_END = re.compile(r"(?<=[a-z]{3})[.?!](?=[A-Z][a-z]*\b(?!\.))")
_LIST_MARK = re.compile(
    r"(?:[-*•·◦‣]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]|\(\d{1,3}\)|\[\d{1,3}\])\s+"
)
_CUT_MARKS = frozenset(";,:).")
_OPENERS = frozenset("([\"'“”")
_WORD = re.compile(r"\w+")
_LONGEST_WORD = 64
"""Letters inspected before a mark; abbreviations are shorter."""
_INITIAL = re.compile(r"[A-Z](?:\.[A-Z])*")
_AFTER_FORMULA = re.compile(r"(FORMULA_\d+)\s+(?=([A-Z][a-z]+)\b)")

# Words whose capital tells that a sentence starts, even right after a formula.
_STARTERS = frozenset(
    "A According After Also Although An And Any Are As Assume Because Besides But "
    "By Can Clearly Compute Consider Could Define Determine Did Do Does Evaluate "
    "Find First For Finally From Furthermore Given Hence Here How However If In Is "
    "It Its Let My Moreover Next Not Note Now Observe On Or Our Please Prove Recall "
    "Show Similarly Since So Solve Some Suppose Thanks That The Then There "
    "Therefore These They This Thus To Under Use Using We What When Where Which "
    "While Why With Would You Your".split()
)  # fmt: skip


class Chunk(NamedTuple):
    """Consecutive sentences of one text, formulas as ``FORMULA_n``."""

    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """The sentences as one line.

        >>> Chunk(("Let FORMULA_0 be prime.", "Prove it.")).text
        'Let FORMULA_0 be prime. Prove it.'
        """
        return " ".join(self.sentences)


def split_chunks(text: str, max_tokens: int = MAX_CHUNK_TOKENS) -> list[Chunk]:
    """Pack the sentences of ``text`` into chunks of at most ``max_tokens`` tokens.

    A single sentence above the limit is cut into pieces.

    >>> [chunk.sentences for chunk in split_chunks("It is. We see. They go.", 6)]
    [('It is.', 'We see.'), ('They go.',)]
    """
    chunks: list[Chunk] = []
    packed: list[str] = []
    used = 0
    for sentence in split_sentences(text):
        for piece in cut_long(sentence, max_tokens):
            size = count_tokens(piece)
            if packed and used + size > max_tokens:
                chunks.append(Chunk(tuple(packed)))
                packed, used = [], 0
            packed.append(piece)
            used += size
    if packed:
        chunks.append(Chunk(tuple(packed)))
    return chunks


def _normalise_text(text: str) -> str:
    r"""Drop invisible characters and unify blanks; line breaks stay.

    >>> _normalise_text("a\u200b\u00a0b\r\nc")
    'a b\nc'
    >>> _normalise_text("FORMULA_1\u200b2")
    'FORMULA_1 2'
    """
    text = _INVISIBLE.sub("", _GLUED.sub(r"\1 ", text))
    lines = text.splitlines()
    return "\n".join(" ".join(line.split()) for line in lines).strip()


def count_tokens(text: str) -> int:
    """Count words, placeholders and marks.

    >>> count_tokens("Let FORMULA_0 be prime.")
    5
    """
    return sum(1 for _ in _TOKEN.finditer(text))


def split_sentences(text: str) -> list[str]:
    """Split ``text`` into sentences; only blanks are dropped.

    A blank line always ends a sentence, a single line break only after an end mark,
    before a list mark, or after a colon that opens a list.
    """
    sentences: list[str] = []
    for block in _split_lines(_normalise_text(text)):
        sentences.extend(_split_block(block))
    return sentences


def _split_lines(text: str) -> list[str]:
    blocks: list[list[str]] = []
    for line in text.split("\n"):
        starts_block = not blocks or not blocks[-1][-1] or _LIST_MARK.match(line)
        if not line or starts_block:
            blocks.append([line])
        else:
            blocks[-1].append(line)
    return [" ".join(lines) for lines in blocks if lines[0]]


def _split_block(block: str) -> list[str]:
    cuts = [m.end() for m in _END.finditer(block) if _ends_sentence(block, m)]
    cuts += [m.end() for m in _GLUED_END.finditer(block)]
    cuts += [
        m.end(1) for m in _AFTER_FORMULA.finditer(block) if m.group(2) in _STARTERS
    ]
    sentences: list[list[str]] = []
    start = 0
    for cut in [*sorted(set(cuts)), len(block)]:
        piece = block[start:cut].strip()
        if not piece:
            continue
        if sentences and not any(map(str.isalnum, piece)):
            sentences[-1].append(piece)
        else:
            sentences.append([piece])
        start = cut
    return [" ".join(pieces) for pieces in sentences]


def _ends_sentence(block: str, match: re.Match[str]) -> bool:
    # Long texts have many marks: each may look at its neighbourhood only.
    after = match.end()
    while after < len(block) and block[after].isspace():
        after += 1
    if after == len(block):
        return True
    mark = match.group()
    next_is_lower = block[after].islower()
    if "?" in mark or "!" in mark:
        return not (next_is_lower and mark[-1] in ")]}\"”’'")
    word = _read_word_before(block, match.start())
    lowered = word.lower()
    if lowered in _NEVER_FINAL or _is_list_mark(block, match.start(), word):
        return False
    if _INITIAL.fullmatch(word) and word != "I" and not next_is_lower:
        # "G. H. Hardy", but "over the field K. Then".
        next_word = _WORD.match(block, after)
        return next_word is not None and next_word.group() in _STARTERS
    if next_is_lower:
        return not mark.startswith((".)", "..", "…")) and (
            len(word) > 1 and lowered not in _SELDOM_FINAL
        )
    return True


def _read_word_before(block: str, end: int) -> str:
    """Return the word that ends at ``end``, at most its last letters."""
    start = end
    while start > max(0, end - _LONGEST_WORD) and block[start - 1] not in _OPENERS:
        if block[start - 1].isspace():
            break
        start -= 1
    return block[start:end].rstrip(".?!…。？！")


def _is_list_mark(block: str, position: int, word: str) -> bool:
    """Tell whether ``word`` is the number or letter that opens the block."""
    return position == len(word) and _LIST_MARK.match(word + ". ") is not None


def cut_long(sentence: str, max_tokens: int) -> list[str]:
    """Cut a sentence above the limit, after a mark in its last quarter if possible."""
    tokens = list(_TOKEN.finditer(sentence))
    pieces: list[str] = []
    first = 0
    while len(tokens) - first > max_tokens:
        cut = first + max_tokens
        for n in range(cut, max(first + 1, cut - max_tokens // 4), -1):
            if tokens[n - 1].group() in _CUT_MARKS:
                cut = n
                break
        pieces.append(sentence[tokens[first].start() : tokens[cut].start()].strip())
        first = cut
    return [*pieces, sentence[tokens[first].start() :] if pieces else sentence]
