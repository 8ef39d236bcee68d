r"""The nodes of a text in words, for people who ask why a post was found.

::

    text    Why is FORMULA_0 irrational? Squaring gives FORMULA_1.
    F0      $\sqrt2$                    S0   Why is $\sqrt2$ irrational?
    F1      $a^2 = 2b^2$                S1   Squaring gives $a^2 = 2b^2$.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from mathamr_kedro.amr import MAX_CHUNK_TOKENS, split_chunks
from mathamr_kedro.graph import FORMULA, SENTENCE
from mathamr_kedro.records import FormulaMention

Captions: TypeAlias = Mapping[tuple[int, int], str]
"""(kind, number) of a node to its words: the LaTeX of a formula, a sentence."""

_PLACEHOLDER = re.compile(r"FORMULA_\d+")


def restore_formulas(text: str, formula_map: Sequence[FormulaMention]) -> str:
    r"""Put the LaTeX of formulas back where their placeholders stand.

    >>> mention = FormulaMention("FORMULA_0", "7", "3", r"\pi", 3, 12)
    >>> restore_formulas("Is FORMULA_0 rational?", [mention])
    'Is $\\pi$ rational?'
    """
    latex = {m.placeholder: f"${m.latex}$" for m in formula_map}
    return _PLACEHOLDER.sub(lambda m: latex.get(m[0], m[0]), text)


def caption_nodes(
    text: str,
    formula_map: Sequence[FormulaMention],
    kinds: Sequence[int],
    max_tokens: int = MAX_CHUNK_TOKENS,
) -> Captions:
    """Return the words of the formula and sentence nodes of a text.

    Args:
        text: with placeholders.
        formula_map: what they stand for.
        kinds: of the nodes of its graph. Sentences stay without words where the graph
            has another number of them, as after a parser that parts texts its own way.
        max_tokens: limit of a chunk when it was parsed.
    """
    captions = {
        (FORMULA, int(m.placeholder.removeprefix("FORMULA_"))): f"${m.latex}$"
        for m in formula_map
    }
    chunks = split_chunks(text, max_tokens)
    sentences = [sentence for chunk in chunks for sentence in chunk.sentences]
    if len(sentences) == list(kinds).count(SENTENCE):
        captions |= {
            (SENTENCE, n): restore_formulas(sentence, formula_map)
            for n, sentence in enumerate(sentences)
        }
    return captions
