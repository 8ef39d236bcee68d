"""Posts, topics and formulas as MaRF reads them: a text, and formulas beside it."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from mathamr_kedro.amr import PLACEHOLDER, split_chunks
from mathamr_kedro.base.records import FormulaInstance, Post, restore_latex
from mathamr_kedro.systems.base import Query
from mathamr_kedro.systems.marf.latex_tokens import normalise_latex, spell_numbers

Tokens: TypeAlias = tuple[str, ...]


class Item(NamedTuple):
    """Something to encode."""

    key: str
    text: str
    """With its LaTeX between dollars."""
    formulas: tuple[Tokens, ...]
    """Tokens of those that are fused with the text."""


def read_post(post: Post | Query, number: int = sys.maxsize) -> Item:
    """Read a post or a topic, with at most so many of its formulas."""
    key = post.post_id if isinstance(post, Post) else post.key
    text = restore_latex(post.text, post.formula_map)
    spelled = [_spell(mention.latex) for mention in post.formula_map]
    return Item(key, text, choose_formulas(spelled, number, key))


def read_sentences(post: Post) -> list[str]:
    """Return the sentences of a post, with their LaTeX between dollars."""
    latex = {m.placeholder: f"${m.latex}$" for m in post.formula_map}
    sentences = (s for chunk in split_chunks(post.text) for s in chunk.sentences)
    return [
        PLACEHOLDER.sub(lambda match: latex.get(match.group(), match.group()), sentence)
        for sentence in sentences
    ]


def read_formula(formula: FormulaInstance) -> Item:
    """Read a formula: it is its own text."""
    found = choose_formulas([_spell(formula.latex)], 1, formula.formula_id)
    return Item(formula.formula_id, f"${formula.latex}$", found)


def choose_formulas(
    formulas: Iterable[Sequence[str]], number: int, key: str
) -> tuple[Tokens, ...]:
    """Return the longest formula, or some at random; each once, empty ones never.

    Args:
        formulas: tokens of the formulas of a post.
        number: how many; 1: the longest, the first among equals.
        key: name of the post: the same formulas are chosen again for it.

    >>> choose_formulas([["x"], ["x", "+"], ["x"], ["y", "-"]], 1, "17")
    (('x', '+'),)
    """
    different = tuple(dict.fromkeys(tuple(f) for f in formulas if f))
    if len(different) <= number:
        return different
    if number == 1:
        return (max(different, key=len),)
    chosen = sorted(random.Random(key).sample(range(len(different)), number))
    return tuple(different[place] for place in chosen)


def _spell(latex: str) -> list[str]:
    return spell_numbers(normalise_latex(latex))
