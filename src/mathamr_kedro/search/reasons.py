r"""Why a post was found, in sentences: what it has in common with a query.

::

    the same formula up to the names of variables: $\sqrt n$ ($p$ ↦ $n$)
    the title of its question asks the same
    shares the words: irrational, prime
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mathamr_kedro.base.records import FormulaInstance, FormulaMention, Post
from mathamr_kedro.base.stemming import stem
from mathamr_kedro.formula import (
    FormulaTree,
    Resemblance,
    compare_trees,
    trees_from_latex,
)
from mathamr_kedro.systems.query import Query, TreeLookup

_WORD = re.compile(r"[^\W\d_]{2,}")
_COMMON = frozenset(
    stem(word)
    for word in (
        "a about all also an and any are as at be because been but by can could do "
        "does each every find for formula from get give given gives has have hence how "
        "i if in into is it its let like make me more must my no not of on one only or "
        "our prove proof question say see should show shows since so some such take "
        "than that the their them then there these they this those thus to true two "
        "use used using very was we what when where whether which who why will with "
        "would yes you your"
    ).split()
)
"""Words that say nothing about the subject."""
_MAX_WORDS, _MAX_FORMULAS = 6, 3
_SAME_TITLE = 0.7
"""Share of the words of both, the query's and the title's, that are common."""
_MUCH = 0.6
"""Share of a formula from which it is worth a sentence."""


def list_reasons(
    query: Query, post: Post | None, question: Post | None, trees_of: TreeLookup
) -> tuple[str, ...]:
    """Return what a post, or the question that it answers, has in common with a query.

    Args:
        query: what was asked.
        post: what was found.
        question: that it answers, if it does.
        trees_of: finds the trees of formulas of posts.
    """
    if post is None:
        return ()
    reasons = list(_compare_formulas(query, post, question, trees_of))
    titled = post if post.title else question
    if titled is not None and _is_same_title(query, titled):
        whose = "its title" if titled is post else "the title of its question"
        reasons.append(f"{whose} asks the same")
    words = list(dict.fromkeys(_WORD.findall(drop_formulas(query.text).lower())))
    texts = " ".join(p.text for p in (post, question) if p is not None)
    known = _list_stems(texts)
    shared = [w for w in words if stem(w) in known and stem(w) not in _COMMON]
    if shared:
        noun = "words" if len(shared) > 1 else "word"
        reasons.append(f"shares the {noun}: {', '.join(shared[:_MAX_WORDS])}")
    return tuple(reasons)


def describe_resemblance(found: Resemblance, asked: str, latex: str) -> str:
    """Describe how a formula resembles the one that was asked for; empty: it does not.

    >>> describe_resemblance(Resemblance(0.9, {"p": "n"}, True), "p^2", "n^2")
    'the same formula up to the names of variables: $n^2$ ($p$ ↦ $n$)'
    """
    if found.names is None:
        percent = f"{100 * found.share:.0f} % of"
        return f"{percent} ${asked}$ is as in ${latex}$" if found.share > _MUCH else ""
    names = ", ".join(f"${a}$ ↦ ${b}$" for a, b in found.names.items())
    up_to = " up to the names of variables" if names else ""
    shown = f"${latex}$ ({names})" if names else f"${latex}$"
    if found.is_whole:
        return f"the same formula{up_to}: {shown}"
    return f"${asked}$ is a part of it{up_to}: {shown}"


def _compare_formulas(
    query: Query, post: Post, question: Post | None, trees_of: TreeLookup
) -> Iterator[str]:
    """Yield for each formula of the query how the nearest one resembles it."""
    if query.pattern is not None:  # what its variables stand for is told beside it
        return
    trees = {
        m.latex: trees_from_latex(m.latex, mode="total").opt for m in query.formula_map
    }
    large = [latex for latex, tree in trees.items() if tree and tree.size > 1]
    places = [place for place in (question, post) if place is not None]
    mentions = {m.latex: (m, p) for p in places for m in p.formula_map}
    for latex in (large or list(trees))[:_MAX_FORMULAS]:
        compared = [
            (compare_trees(trees[latex], _find_tree(m, p, trees_of)), m, p)
            for m, p in mentions.values()
        ]
        if not compared:
            return
        best, mention, place = max(
            compared, key=lambda c: (c[0].names is not None, c[0].share)
        )
        words = describe_resemblance(best, latex, mention.latex)
        if words:
            yield words + (", in the question that it answers" * (place is question))


def _find_tree(
    mention: FormulaMention, post: Post, trees_of: TreeLookup
) -> FormulaTree | None:
    found = trees_of(
        FormulaInstance(
            mention.formula_id, mention.visual_id, post.post_id, mention.latex
        )
    )
    return None if found is None else found.opt


def _is_same_title(query: Query, titled: Post) -> bool:
    mine = _list_stems(query.text) - _COMMON
    theirs = _list_stems(titled.title) - _COMMON
    common = mine & theirs
    return (
        bool(common)
        and min(len(common) / len(mine), len(common) / len(theirs)) >= _SAME_TITLE
    )


def _list_stems(text: str) -> set[str]:
    return {stem(word) for word in _WORD.findall(drop_formulas(text).lower())}


def drop_formulas(text: str) -> str:
    """Return a clean text without the placeholders of its formulas."""
    return re.sub(r"FORMULA_\d+", " ", text)
