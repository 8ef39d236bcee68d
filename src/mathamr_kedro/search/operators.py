r"""Operators of a typed query, as web searches and Approach Zero have them.

====================  ================================================================
``"exact words"``     the post, or the question that it answers, has this phrase
``+word``, ``-word``  it has this word in some form; it does not
``tag:algebra``       it has this tag
``kind:lemma``        it is a statement or a post of this kind
====================  ================================================================

A sign in a formula is mathematics, and so is one before a single letter. Questions of
more than 30 words are read as they are: quotes and dashes there are prose.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from mathamr_kedro.base.records import Post, restore_latex
from mathamr_kedro.base.stemming import stem
from mathamr_kedro.search.answers import ResultFilter
from mathamr_kedro.text import split_text

_MOST_WORDS = 30
_OPERATOR = re.compile(
    r"(?P<formula>\$\$.*?\$\$|\$[^$]*\$|\\\(.*?\\\)|\\\[.*?\\\])"
    r'|(?<!\S)(?:"(?P<phrase>[^"\s][^"]*)"'
    r"|(?P<sign>[+-])(?P<word>[^\W\d_]{2,}(?:[-'][^\W\d_]+)*)(?![^\s,.;:?!])"
    r'|(?P<field>tag|kind):(?P<value>"[^"]+"|[^\s"]+))',
    re.DOTALL,
)


class Operators(NamedTuple):
    """A typed query, and what it asks of every result."""

    text: str
    """What is searched for."""
    phrases: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    @property
    def has_filter(self) -> bool:
        """Whether results are chosen by their texts."""
        return any((self.phrases, self.required, self.excluded, self.tags))

    def allow(self, post: Post, question: Post | None) -> bool:
        """Tell whether a post, perhaps with the question that it answers, will do."""
        both = [post] if question is None else [post, question]
        if not {*self.tags} <= {_name_tag(tag) for p in both for tag in p.tags}:
            return False
        texts = [_join(restore_latex(p.text, p.formula_map)) for p in both]
        if not all(any(_join(f) in text for text in texts) for f in self.phrases):
            return False
        terms = {term for p in both for term in split_text(p.text, p.formula_map)}
        return all(_stems(word) <= terms for word in self.required) and not any(
            _stems(word) <= terms for word in self.excluded
        )

    def list_near_tags(self, posts: Iterable[Post]) -> list[str]:
        """Return tags of posts that hold a tag that was asked for, in their order."""
        found = {_name_tag(tag) for post in posts for tag in post.tags}
        return sorted(t for t in found if any(asked in t for asked in self.tags))

    def restrict(self, keep: ResultFilter | None) -> ResultFilter | None:
        """Return a filter that is also another one; ``None``: nothing is filtered."""
        if not self.has_filter:
            return keep
        if keep is None:
            return self.allow
        return lambda post, question: (
            keep(post, question) and self.allow(post, question)
        )


def read_operators(text: str) -> Operators:
    r"""Read a typed query.

    >>> read_operators('"finite fields" $-x$ -galois kind:lemma')
    ... # doctest: +NORMALIZE_WHITESPACE
    Operators(text='finite fields $-x$', phrases=('finite fields',), required=(),
              excluded=('galois',), tags=(), kinds=('lemma',))
    """
    if len(text.split()) > _MOST_WORDS:
        return Operators(text)
    found: defaultdict[str, list[str]] = defaultdict(list)

    def read(match: re.Match[str]) -> str:
        if match["formula"]:
            return match[0]
        if match["phrase"]:
            found["phrase"].append(match["phrase"])
            return match["phrase"]
        if match["sign"]:
            found[match["sign"]].append(match["word"])
            return match["word"] if match["sign"] == "+" else ""
        found[match["field"]].append(match["value"].strip('"'))
        return ""

    left = " ".join(_OPERATOR.sub(read, text).split())
    tags = tuple(map(_name_tag, found["tag"]))
    asked = left or " ".join(tag.replace("-", " ") for tag in tags)
    if not any(found.values()):
        asked = text
    return Operators(
        asked,
        tuple(found["phrase"]),
        tuple(found["+"]),
        tuple(found["-"]),
        tags,
        tuple(kind.lower() for kind in found["kind"]),
    )


def _name_tag(tag: str) -> str:
    return tag.lower().replace(" ", "-")


def _join(text: str) -> str:
    return " ".join(text.split()).casefold()


def _stems(word: str) -> set[str]:
    return {
        stem(part) for part in re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", word.lower())
    }
