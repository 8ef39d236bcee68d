"""Start vectors of node types, so that labels with something in common start similar.

::

    labels                  vector                                    parts
    function-01, function   by a sentence encoder, of their words     "function"
    V!x, V!xy, O!x          sum of random vectors of their parts      V! x xy ...

Concepts are spelt as words (frames without their sense number) and encoded by a
sentence encoder; their vectors are reduced to the wanted width by principal directions.
A formula label is the sum of a random vector for each of its parts: its type, its
value, the single characters and their pairs. Types without a vector have a row of
zeros.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.graph import SPECIAL_TYPES, classify_number

_SYMBOL = re.compile(r"([A-Z]!)(.*)", re.DOTALL)
_SENSE = re.compile(r"-\d+$")

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to vectors, one row each."""


@dataclass(frozen=True)
class NodeVectorsConfig:
    """How node embeddings start, beyond the thesis."""

    concepts: Literal["none", "text"] = "none"
    symbols: Literal["none", "hashed"] = "none"

    @property
    def wanted(self) -> bool:
        """Whether any type is to start from a vector."""
        return self.concepts != "none" or self.symbols != "none"


def _spell_concept(label: str) -> str | None:
    """Return the words of an AMR concept; ``None`` for formulas, numbers, specials.

    >>> [_spell_concept(s) for s in ("converge-01", "even-number", "V!x", "12")]
    ['converge', 'even number', None, None]
    """
    is_other = label in SPECIAL_TYPES or _SYMBOL.fullmatch(label) is not None
    if is_other or classify_number(label) is not None:
        return None
    words = _SENSE.sub("", label).replace("-", " ").replace("_", " ").strip()
    return words or None


def _split_symbol(label: str) -> list[str]:
    """Return the parts of a formula label; none for other labels.

    >>> _split_symbol("V!ab")
    ['type V!', 'value ab', 'a', 'b', 'ab']
    """
    found = _SYMBOL.fullmatch(label)
    if found is None:
        return []
    kind, value = found.groups()
    pairs = [value[i : i + 2] for i in range(len(value) - 1)]
    return [f"type {kind}", f"value {value}", *value, *pairs]


def build_node_vectors(
    types: Sequence[str],
    width: int,
    config: NodeVectorsConfig,
    encode: Encode | None,
    seed: int,
) -> NDArray[np.float32]:
    """(types, width) vectors; concepts and symbols have the same spread.

    Args:
        types: labels by number.
        width: of the node embeddings.
        config: which types get one.
        encode: the sentence encoder, where concepts are asked for.
        seed: draws the vectors of symbol parts.
    """
    out = np.zeros((len(types), width), dtype=np.float32)
    if config.concepts == "text" and encode is not None:
        words = {n: w for n, t in enumerate(types) if (w := _spell_concept(t))}
        if words:
            distinct = sorted(set(words.values()))
            reduced = _reduce(encode(distinct), width)
            place = {word: i for i, word in enumerate(distinct)}
            out[list(words)] = reduced[[place[w] for w in words.values()]]
    if config.symbols == "hashed":
        draw = cache(lambda part: _draw(part, width, seed))
        parts = {n: p for n, t in enumerate(types) if (p := _split_symbol(t))}
        for number, listed in parts.items():
            out[number] = sum(map(draw, listed)) / len(listed) ** 0.5
    return out


def _draw(part: str, width: int, seed: int) -> NDArray[np.float64]:
    """Normal numbers that the part and the seed decide."""
    digest = hashlib.blake2b(part.encode(), digest_size=8).digest()
    rng = np.random.default_rng([seed, int.from_bytes(digest, "little")])
    return rng.standard_normal(width)


def _reduce(vectors: NDArray[np.float32], width: int) -> NDArray[np.float64]:
    """Principal components, with spread 1 over all numbers."""
    centred = vectors.astype(np.float64) - vectors.mean(0, dtype=np.float64)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    # A direction has no sign of its own: the largest entry decides.
    largest = np.abs(directions).argmax(1)
    directions *= np.sign(directions[np.arange(len(directions)), largest])[:, None]
    reduced = np.zeros((len(vectors), width))
    used = min(width, len(directions))
    reduced[:, :used] = centred @ directions[:used].T
    return reduced / max(reduced.std(), 1e-12)
