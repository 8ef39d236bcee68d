"""Posts, topics and formulas as MaRF reads them, and what its training reads of them.

::

    prepared/
      context/          the context encoder and its tokenizer
      vocabulary.json   tokens of LaTeX
      posts.arrays      text, text_ptr          ids of the context encoder
                        formulas, formulas_ptr  numbers of tokens of LaTeX
                        formulas_owners         where the formulas of a post start
                        fused, ...              the same of those that are fused
                        sentences, ...          ids of those of every post, if it is
                                                pretrained on them
                        pairs, held_out         (P, 2) rows of questions and answers
                        accepted                how many pairs are not there by votes
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mathamr_kedro.amr import PLACEHOLDER, split_chunks
from mathamr_kedro.base.arrays import Arrays, write_arrays
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import (
    FormulaInstance,
    Post,
    TrainingPair,
    restore_latex,
)
from mathamr_kedro.base.types import PostId
from mathamr_kedro.base.vocabulary import Vocabulary, choose_frequent
from mathamr_kedro.systems.base import Collection
from mathamr_kedro.systems.folds import hash_to_unit
from mathamr_kedro.systems.marf.config import ModelConfig
from mathamr_kedro.systems.marf.latex_tokens import normalise_latex, spell_numbers
from mathamr_kedro.systems.marf.networks import ContextEncoder, Ids
from mathamr_kedro.systems.marf.training import CONTEXT, POSTS, VOCABULARY, Rows
from mathamr_kedro.systems.query import Query
from mathamr_kedro.systems.vector_rows import take_batches
from mathamr_kedro.text import find_text_model

Tokens: TypeAlias = tuple[str, ...]

_VOCABULARY_SIZE = 8000
"""Different tokens of LaTeX; the rarest share one number."""
_MAX_FORMULA_TOKENS = 128
_VALIDATION_SHARE = 0.1
"""Share of the questions that choose the best epoch."""
_AT_ONCE = 256
_VOTES = 5
"""An answer with more of them is right too (3.4)."""
_NEW_TOKENS = 1000
"""Commands of LaTeX that the context encoder reads as one token each (3.4)."""
_COMMAND = re.compile(r"\\[A-Za-z]+")


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


def number_tokens(vocabulary: Vocabulary, formula: Sequence[str]) -> Ids:
    """Return the numbers of the tokens of a formula, as many as are read."""
    found = [vocabulary.find(token) for token in formula[:_MAX_FORMULA_TOKENS]]
    return np.array(found, dtype=np.int32)


def prepare_posts(
    sources: Collection, folder: Path, config: ModelConfig
) -> dict[str, Any]:
    """Write posts of pairs as tokens, and the context encoder; return counts.

    Raises:
        MissingInputError: the context encoder is missing; the message says how to
            get it.
    """
    number = config.max_formulas
    context = ContextEncoder(find_text_model(config.context))
    accepted = set(sources.pairs())
    found = accepted | _find_voted(sources)
    number_of_pairs = config.max_pairs or len(found)
    pairs = nsmallest(number_of_pairs, found, lambda pair: hash_to_unit(" ".join(pair)))
    pairs.sort(key=lambda pair: pair not in accepted)
    wanted = {key for pair in pairs for key in pair}

    counts = Counter(
        token
        for item in _read_posts(sources, wanted, "counted")
        for formula in item.formulas
        for token in formula
    )
    vocabulary = Vocabulary(["[UNK]", *choose_frequent(counts)[:_VOCABULARY_SIZE]])
    vocabulary.save(folder / VOCABULARY)

    sentences: list[list[Ids]] = []
    if config.pretraining.epochs:
        context.add_tokens(_choose_commands(sources))
        sentences = _split_sentences(sources, context, config.max_tokens)
    row_of: dict[PostId, int] = {}
    texts: list[Ids] = []
    formulas: list[list[Ids]] = []
    fused: list[list[Ids]] = []
    for some in take_batches(_read_posts(sources, wanted, "written"), _AT_ONCE):
        row_of |= {item.key: len(row_of) + n for n, item in enumerate(some)}
        texts += context.split([item.text for item in some], config.max_tokens)
        formulas += [[number_tokens(vocabulary, f) for f in i.formulas] for i in some]
        chosen = [choose_formulas(i.formulas, number, i.key) for i in some]
        fused += [[number_tokens(vocabulary, f) for f in found] for found in chosen]

    known = [pair for pair in pairs if row_of.keys() >= set(pair)]
    rows = np.array([[row_of[key] for key in pair] for pair in known], dtype=np.int64)
    rows = rows.reshape(-1, 2)
    draws = np.array([hash_to_unit(pair.question_id) for pair in known])
    is_held_out = draws < _VALIDATION_SHARE
    arrays: Arrays = {
        "text": _join(texts), "text_ptr": _find_starts(texts),
        **_list_arrays("formulas", formulas), **_list_arrays("fused", fused),
        **_list_arrays("sentences", sentences),
        "accepted": np.array([sum(
            pair in accepted and not held
            for pair, held in zip(known, is_held_out.tolist(), strict=True)
        )]),
        "pairs": rows[~is_held_out], "held_out": rows[is_held_out],
    }  # fmt: skip
    write_arrays(folder / POSTS, arrays)
    context.save(folder / CONTEXT)
    return {
        "pairs": len(arrays["pairs"]),
        "pairs_by_votes": len(arrays["pairs"]) - int(arrays["accepted"][0]),
        "validation_pairs": len(arrays["held_out"]),
        "pairs_without_posts": len(pairs) - len(known),
        "posts": len(row_of),
        "tokens": len(vocabulary),
        "sentences": sum(map(len, sentences)),
    }


def _find_voted(sources: Collection) -> set[TrainingPair]:
    """Return questions with each answer of more than five votes."""
    return {
        TrainingPair(post.parent_id, post.post_id)
        for post in sources.posts()
        if post.post_type == "answer" and post.parent_id and (post.score or 0) > _VOTES
    }


def _choose_commands(sources: Collection) -> list[str]:
    """Return the most frequent commands of LaTeX."""
    counts = Counter(
        command
        for post in sources.posts()
        for mention in post.formula_map
        for command in _COMMAND.findall(mention.latex)
    )
    return list(choose_frequent(counts)[:_NEW_TOKENS])


def _split_sentences(
    sources: Collection, context: ContextEncoder, max_tokens: int
) -> list[list[Ids]]:
    """Return the sentences of every post that has two, as ids without marks."""
    found = []
    for post in report_progress(sources.posts(), "posts split for marf"):
        texts = read_sentences(post)
        if len(texts) > 1:
            found.append(context.split(texts, max_tokens, marks=False))
    return found


def _list_arrays(name: str, formulas: Sequence[Sequence[Ids]]) -> Arrays:
    every = [formula for found in formulas for formula in found]
    return {
        name: _join(every),
        f"{name}_ptr": _find_starts(every),
        f"{name}_owners": _find_starts(formulas),
    }


def _read_posts(sources: Collection, wanted: set[PostId], done: str) -> Iterator[Item]:
    """Yield posts with all their formulas: which are fused is no matter of learning."""
    posts = (p for p in sources.posts() if p.post_id in wanted)
    for post in report_progress(posts, f"posts {done} for marf", total=len(wanted)):
        yield read_post(post)


def _join(parts: Sequence[Ids]) -> Ids:
    return np.concatenate([np.zeros(0, np.int32), *parts])


def _find_starts(parts: Sequence[Any]) -> Rows:
    return np.cumsum([0] + [len(part) for part in parts], dtype=np.int64)
