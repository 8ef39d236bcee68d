"""Posts, topics and formulas as MaRF reads them: a text, and formulas beside it."""

from __future__ import annotations

from dataclasses import dataclass

from mathamr_kedro.records import FormulaInstance, Post, Topic
from mathamr_kedro.systems.marf.latex_tokens import normalise_latex, spell_numbers
from mathamr_kedro.systems.marf.vocabulary import choose_formulas
from mathamr_kedro.text import restore_latex


@dataclass(frozen=True)
class Item:
    """Something to encode."""

    key: str
    text: str
    """With its LaTeX between dollars."""
    formulas: tuple[tuple[str, ...], ...]
    """Tokens of those that are fused with the text."""

    @classmethod
    def of_post(cls, post: Post | Topic, number: int) -> Item:
        """Read a post or a topic, with at most so many of its formulas."""
        key = post.topic_id if isinstance(post, Topic) else post.post_id
        text = restore_latex(post.text, post.formula_map)
        spelled = [_spell(mention.latex) for mention in post.formula_map]
        return cls(key, text, tuple(choose_formulas(spelled, number, key)))

    @classmethod
    def of_formula(cls, formula: FormulaInstance) -> Item:
        """Read a formula: it is its own text."""
        tokens = tuple(_spell(formula.latex))
        found = (tokens,) if tokens else ()
        return cls(formula.formula_id, f"${formula.latex}$", found)


def _spell(latex: str) -> list[str]:
    return spell_numbers(normalise_latex(latex))
