"""Fragments: the small graph that a token contributes.

Most tokens give one concept; some give more, around the node that carries the word:

```
teacher    (person :ARG0-of (teach-01*))         * marks the core, which carries the
bigger     (have-degree-91 :ARG2 (big*)            word and takes the arguments;
              :ARG3 (more))                      the first node is the head, which is
unhappy    (happy-01* :polarity -)                 what others point to
```

Names need most of the work: which tokens form one, and what kind of thing it names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from mathamr_kedro.amr.builtin.concepts import (
    NAME,
    NEGATIVE,
    NOTHING,
    ORDINAL,
    VARIABLE,
)
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.tables import Classifier, FloatArray
from mathamr_kedro.amr.builtin.words import is_frame, is_variable, read_ordinal
from mathamr_kedro.amr.graphs import PLACEHOLDER
from mathamr_kedro.amr.penman_io import format_string

_PIECE = re.compile(r"\(|\)|:\S+|[^\s():]+")
_HYPHENS = frozenset({"-", "–", "—"})
_TITLES = frozenset(
    "algorithm axiom conjecture criterion formula hypothesis identity inequality law "
    "lemma paradox principle problem rule test theorem".split()
)  # fmt: skip
_Spans = Mapping[int, tuple[int, ...]]
"""Representative token of a name to all tokens of the name."""


class Fragment(NamedTuple):
    """A rooted graph of few nodes; node 0 is the head."""

    concepts: tuple[str, ...]
    edges: tuple[tuple[int, str, int], ...] = ()
    values: tuple[tuple[int, str, str], ...] = ()
    core: int = 0

    @classmethod
    @lru_cache(maxsize=65536)
    def read(cls, text: str) -> Fragment:
        """Read the one-line form.

        >>> fragment = Fragment.read("(person :ARG0-of (teach-01*))")
        >>> fragment.concepts, fragment.edges, fragment.core
        (('person', 'teach-01'), ((1, 'ARG0', 0),), 1)
        >>> Fragment.read("set").concepts
        ('set',)
        """
        if not text.startswith("("):
            return cls((text,))
        concepts: list[str] = []
        edges: list[tuple[int, str, int]] = []
        values: list[tuple[int, str, str]] = []
        stack: list[int] = []
        core = 0
        role = ""
        opened = False
        for piece in _PIECE.findall(text):
            if piece == "(":
                opened = True
            elif piece == ")":
                stack.pop()
            elif piece.startswith(":"):
                role = piece[1:]
            elif opened:
                opened = False
                node = len(concepts)
                if piece.endswith("*"):
                    core = node
                concepts.append(piece.removesuffix("*"))
                if stack and role.endswith("-of"):
                    edges.append((node, role[:-3], stack[-1]))
                elif stack:
                    edges.append((stack[-1], role, node))
                stack.append(node)
            else:
                values.append((stack[-1], role, piece))
        return cls(tuple(concepts), tuple(edges), tuple(values), core)

    @property
    def concept(self) -> str:
        """Concept of the core."""
        return self.concepts[self.core]

    def find_source(self, role: str) -> int:
        """Return the node from which an outgoing ``role`` leaves."""
        wrapped = self.core and not self.concepts[0].startswith("have-")
        if wrapped and role.startswith("ARG") and is_frame(self.concept):
            return self.core
        return 0


def make_fragments(
    skeleton: Skeleton,
    labels: Sequence[str],
    names: _Spans,
    name_types: Mapping[int, str],
) -> dict[int, Fragment]:
    """Turn labels into fragments; constants become fragments of their label."""
    fragments: dict[int, Fragment] = {}
    for i, label in enumerate(labels):
        if label == NOTHING or (label == NAME and i not in names):
            continue
        if label == NAME:
            fragments[i] = _add_name(skeleton, names[i], Fragment((name_types[i],)))
        elif label == VARIABLE:
            fragments[i] = _add_name(skeleton, (i,), Fragment(("variable",)))
        elif label == ORDINAL:
            value = read_ordinal(skeleton.words[i]) or "1"
            fragments[i] = Fragment(("ordinal-entity",), values=((0, "value", value),))
        elif label[:3] == f"{NEGATIVE}+":
            fragments[i] = Fragment.read(label[3:])
        else:
            fragments[i] = Fragment.read(label)
    return fragments


def make_named_fragments(
    skeleton: Skeleton, labels: Sequence[str], name_types: Classifier
) -> dict[int, Fragment]:
    """Make all fragments; names go to the noun they belong to, or get a type."""
    titles = _find_titles(skeleton)
    inside = {i for span in titles.values() for i in span}
    # Words of a title become parts of the name, not concepts.
    labels = [NOTHING if i in inside else label for i, label in enumerate(labels)]
    _complete_names(skeleton, labels)
    spans = _group_names(skeleton, labels)
    nouns = {
        h: _find_named_noun(skeleton, h, span, labels) for h, span in spans.items()
    }
    free = {head: span for head, span in spans.items() if nouns[head] is None}
    types: dict[int, str] = {}
    if free:
        scores = name_types.score([describe_name(skeleton, s) for s in free.values()])
        types = {
            head: _choose_type(skeleton, span, name_types, row)
            for (head, span), row in zip(free.items(), scores, strict=True)
        }
    fragments = make_fragments(skeleton, labels, free, types)
    for head, noun in nouns.items():
        if noun is not None:
            fragments[noun] = _add_name(skeleton, spans[head], fragments[noun])
    for span in titles.values():
        fragments[skeleton.find_head(span)] = _add_name(
            skeleton, span, Fragment((skeleton.words[span[-1]],))
        )
    return fragments


def _choose_type(
    skeleton: Skeleton, span: Sequence[int], types: Classifier, scores: FloatArray
) -> str:
    """Choose the type of a named thing; unknown names are only taken for persons."""
    if len(span) == 1 and is_variable(skeleton.tokens[span[0]].form.rstrip(".")):
        return "variable"
    if not any(f"w{skeleton.words[i]}" in types.features for i in span):
        return "person"
    return types.labels[int(scores.argmax())]


def _group_names(
    skeleton: Skeleton, labels: Sequence[str]
) -> dict[int, tuple[int, ...]]:
    """Join adjacent name tokens; the one attached outside the name represents all."""
    groups: dict[int, tuple[int, ...]] = {}
    start = 0
    while start < len(labels):
        end = start
        while end < len(labels) and (
            labels[end] == NAME
            or (end > start and _is_name_joint(skeleton, end, labels))
        ):
            end += 1
        if end > start:
            span = tuple(range(start, end))
            groups[skeleton.find_head(span)] = span
        start = end + 1
    return groups


def _find_named_noun(
    skeleton: Skeleton, head: int, span: Sequence[int], labels: Sequence[str]
) -> int | None:
    """Return the noun a name belongs to: ``inequality`` in "Schwarz inequality"."""
    noun = skeleton.parents[head]
    if (
        0 <= noun < len(labels)
        and span[-1] < noun <= span[-1] + 2
        and skeleton.labels[head] in ("compound", "nmod", "amod")
        and skeleton.tokens[noun].pos == "NOUN"
        and labels[noun] not in ("", NAME)
    ):
        return noun
    return None


def _is_name_joint(skeleton: Skeleton, i: int, labels: Sequence[str]) -> bool:
    """Tell whether a hyphen joins two parts of a name: "Cauchy-Schwarz"."""
    return (
        skeleton.words[i] in _HYPHENS
        and i + 1 < len(labels)
        and labels[i - 1] == labels[i + 1] == NAME
    )


def _complete_names(skeleton: Skeleton, labels: list[str]) -> None:
    """Make a name of a capitalised word that a hyphen ties to a name.

    "The Theorem" by itself is not a name.
    """
    for i, word in enumerate(skeleton.words):
        if labels[i] == NAME and word in _TITLES:
            if NAME not in (*labels[max(0, i - 1) : i], *labels[i + 1 : i + 2]):
                labels[i] = word
    for i, word in enumerate(skeleton.words[1:-1], start=1):
        if word in _HYPHENS and NAME in (labels[i - 1], labels[i + 1]):
            sides = (i - 1, i + 1)
            if all(skeleton.tokens[n].form[0].isupper() for n in sides):
                labels[i - 1] = labels[i + 1] = NAME


def _find_titles(skeleton: Skeleton) -> dict[int, tuple[int, ...]]:
    """Return capitalised names of theorems, "Fermat's Last Theorem".

    The noun, which gives the type of the named thing, represents all tokens.
    """
    titles: dict[int, tuple[int, ...]] = {}
    for i, word in enumerate(skeleton.words):
        if word not in _TITLES or not skeleton.tokens[i].form[0].isupper():
            continue
        start = i
        while start > 0 and _is_title_part(skeleton, start - 1):
            start -= 1
        while start < i and skeleton.tokens[start].pos != "PROPN":
            start += 1
        if start < i:
            titles[i] = tuple(range(start, i + 1))
    return titles


def _is_title_part(skeleton: Skeleton, i: int) -> bool:
    token = skeleton.tokens[i]
    if token.tag in ("POS", "HYPH") or token.form in _HYPHENS:
        return True
    is_large = token.form[0].isupper() and token.pos in ("PROPN", "ADJ", "NOUN")
    return is_large and PLACEHOLDER.fullmatch(token.form) is None


def _spell(skeleton: Skeleton, span: Sequence[int]) -> list[str]:
    """Return the words of a name; hyphens and ``'s`` stay within a word."""
    parts: list[str] = []
    is_glued = False
    for i in span:
        form = skeleton.tokens[i].form
        is_mark = form in _HYPHENS or skeleton.tokens[i].tag == "POS"
        if parts and (is_mark or is_glued):
            parts[-1] += form
        else:
            parts.append(form)
        is_glued = form in _HYPHENS
    return parts


def _add_name(skeleton: Skeleton, span: Sequence[int], fragment: Fragment) -> Fragment:
    """Return ``fragment`` with a name below its head."""
    node = len(fragment.concepts)
    parts = tuple(
        (node, f"op{n}", format_string(part))
        for n, part in enumerate(_spell(skeleton, span), start=1)
    )
    return fragment._replace(
        concepts=(*fragment.concepts, "name"),
        edges=(*fragment.edges, (0, "name", node)),
        values=(*fragment.values, *parts),
    )


def describe_name(skeleton: Skeleton, span: Sequence[int]) -> list[str]:
    """Return the features by which the type of a named thing is predicted."""
    head = skeleton.find_head(span)
    parent = skeleton.parents[head]
    label = skeleton.labels[head]
    names = [f"w{skeleton.words[i]}" for i in span]
    names += [f"e{skeleton.words[span[-1]][-3:]}", f"n{len(span)}", "b", f"d{label}"]
    if parent >= 0:
        names += [f"p{skeleton.words[parent]}", f"p{skeleton.words[parent]}|{label}"]
        above = skeleton.parents[parent]
        if above >= 0:
            names.append(f"g{skeleton.tokens[above].lemma}")
    return names
