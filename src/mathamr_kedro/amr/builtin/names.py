"""Names: which tokens form one, what kind of thing it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mathamr_kedro.amr.builtin.concepts import NAME
from mathamr_kedro.amr.builtin.fragments import Fragment
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.penman_io import format_string

Spans = Mapping[int, tuple[int, ...]]
"""Token that stands for a name to all tokens of the name."""


def find_head(skeleton: Skeleton, span: Sequence[int]) -> int:
    """Return the token of a name that hangs on something outside of it."""
    return next((i for i in span if skeleton.parents[i] not in span), span[-1])


def group_names(
    skeleton: Skeleton, labels: Sequence[str]
) -> dict[int, tuple[int, ...]]:
    """Join neighbouring name tokens; the token that hangs outside stands for all."""
    groups: dict[int, tuple[int, ...]] = {}
    start = 0
    while start < len(labels):
        end = start
        while end < len(labels) and labels[end] == NAME:
            end += 1
        if end > start:
            span = tuple(range(start, end))
            groups[find_head(skeleton, span)] = span
        start = end + 1
    return groups


def find_named_noun(
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


def make_name(skeleton: Skeleton, span: Sequence[int], kind: str) -> Fragment:
    """Return the fragment of a named thing."""
    return add_name(skeleton, span, Fragment((kind,)))


def add_name(skeleton: Skeleton, span: Sequence[int], fragment: Fragment) -> Fragment:
    """Return ``fragment`` with a name below its head."""
    node = len(fragment.concepts)
    parts = tuple(
        (node, f"op{n}", format_string(skeleton.tokens[i].form))
        for n, i in enumerate(span, start=1)
    )
    return fragment._replace(
        concepts=(*fragment.concepts, "name"),
        edges=(*fragment.edges, (0, "name", node)),
        values=(*fragment.values, *parts),
    )


def describe_name(skeleton: Skeleton, span: Sequence[int]) -> list[str]:
    """Return the features by which the kind of a named thing is guessed."""
    head = find_head(skeleton, span)
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
