"""Which tokens' fragments are joined, and how: pairs and their features.

Only pairs that are near in the skeleton, reduced to tokens with a fragment, are looked
at; ``kind`` says how near:

```
       a          01  a governs b              11  b and c are siblings
     ╱   ╲        02  a governs d's governor   12  c is an uncle of d
    b     c
    │
    d
```

A pair's label is a role from the upper to the lower token, the role and ``~`` for the
other direction, or ``-`` for no edge.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

from mathamr_kedro.amr.builtin.candidates import VALUES
from mathamr_kedro.amr.builtin.fragments import Fragment
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.words import Lexicon, is_frame

NO_EDGE = "-"
BACKWARD = "~"
_WORDY = frozenset({"ADP", "SCONJ", "PART", "ADV"})
_MARKS = frozenset({"if", "that", "to", "whether"})
_WH_TAGS = frozenset({"WDT", "WP", "WRB", "WP$"})


class Pair(NamedTuple):
    """Two tokens; ``upper`` is nearer to the root, or earlier."""

    upper: int
    lower: int
    kind: str
    path: str
    between: int
    """The token of the fragment between them, -1 if there is none."""

    def orient(self, label: str) -> tuple[int, str, int]:
        """Return source, role and target of the pair with its label."""
        if label.endswith(BACKWARD):
            return self.lower, label[:-1], self.upper
        return self.upper, label, self.lower


class Reduced:
    """The skeleton, reduced to tokens with a fragment; constants have no dependents.

    Attributes:
        parents: token to its governor, -1 for those that have none.
        paths: token to the labels on the path to its governor.
        children: token to its dependents.
    """

    def __init__(
        self, skeleton: Skeleton, fragments: Mapping[int, Fragment], lexicon: Lexicon
    ) -> None:
        self._skeleton = skeleton
        self._kept = {i for i, f in fragments.items() if f.concept not in VALUES}
        self.parents: dict[int, int] = {}
        self.paths: dict[int, str] = {}
        self.children: dict[int, list[int]] = {i: [] for i in [-1, *fragments]}
        for i in fragments:
            parent, path = self._climb(i)
            self.parents[i] = parent
            self.paths[i] = path
            self.children[parent].append(i)
        self._facts = _collect_facts(skeleton, fragments, lexicon)

    def _climb(self, i: int) -> tuple[int, str]:
        skeleton = self._skeleton
        parts = [skeleton.labels[i]]
        parent = skeleton.parents[i]
        while parent >= 0 and parent not in self._kept:
            label = skeleton.labels[parent]
            if skeleton.tokens[parent].pos in _WORDY:
                label = f"{label}:{skeleton.words[parent]}"
            parts.append(label)
            parent = skeleton.parents[parent]
        return parent, "<".join(parts[:4])

    def list_pairs(self, known: Container[str] | None = None) -> list[Pair]:
        """Return the pairs to look at.

        Args:
            known: paths worth a look, as ``kind + path``; if it is given, pairs that
                are not next to each other are skipped unless their path is known.
        """
        pairs: list[Pair] = []
        for upper, children in self.children.items():
            for n, b in enumerate(children):
                if upper >= 0:
                    pairs.append(Pair(upper, b, "01", self.paths[b], -1))
                for c in children[n + 1 :]:
                    path = f"{self.paths[b]}^{self.paths[c]}"
                    # Only siblings without a governor need each other to be connected.
                    if known is None or upper < 0 or "11" + path in known:
                        pairs.append(Pair(b, c, "11", path, upper))
        distant = self._list_distant_pairs()
        if known is not None:
            distant = (pair for pair in distant if pair.kind + pair.path in known)
        return [*pairs, *distant]

    def _list_distant_pairs(self) -> Iterator[Pair]:
        paths = self.paths
        for c, nephews in self.children.items():
            if c < 0 or not nephews:
                continue
            upper = self.parents[c]
            for d in nephews:
                if upper >= 0:
                    yield Pair(upper, d, "02", f"{paths[d]}<<{paths[c]}", c)
                for b in self.children[upper]:
                    if b != c:
                        path = f"{paths[b]}^{paths[c]}>>{paths[d]}"
                        yield Pair(b, d, "12", path, c)

    def describe_pair(self, pair: Pair) -> list[str]:
        """Return the features of a pair."""
        facts = self._facts
        a, b = facts[pair.upper], facts[pair.lower]
        k = pair.kind
        p = k + pair.path
        order = "<" if pair.upper < pair.lower else ">"
        kinds = f"{a.kind},{b.kind}"
        names = [
            p,
            f"1{p}|{a.concept}",
            f"2{p}|{b.concept}",
            f"3{p}|{kinds}",
            f"4{p}|{a.tag}",
            f"5{p}|{b.tag}",
            f"6{p}|{a.tag}|{b.tag}",
            f"7{k}|{a.concept}|{b.concept}",
            f"8{p}|{a.shape}|{a.kind}",
            f"9{p}|{a.roles}|{a.shape}",
            f"A{p}|{b.marks}|{b.kind}",
            f"B{k}|{kinds}|{order}",
            f"C{k}|{a.concept}",
            f"D{k}|{b.concept}",
            f"E{p}|{order}|{kinds}",
            f"F{p}|{a.lemma}",
            f"G{p}|{b.lemma}",
            f"H{p}|{b.shape}|{b.kind}",
            f"I{p}|{b.roles}|{b.shape}",
            f"J{k}|{a.concept}|{b.tag}|{order}",
        ]
        if pair.between >= 0:
            c = facts[pair.between]
            names += [
                f"K{p}|{c.concept}",
                f"L{p}|{c.kind}|{kinds}",
                f"M{k}|{c.concept}|{a.tag}|{b.tag}",
                f"N{p}|{c.concept}|{a.kind}|{b.concept}",
            ]
        return names

    def describe_top(self, i: int) -> list[str]:
        """Return the features by which the top of a graph is chosen."""
        facts = self._facts
        depth = min(self._measure_depth(i), 3)
        fact = facts[i]
        parent = self.parents[i]
        above = facts[parent].concept if parent >= 0 else "^"
        path = self.paths[i]
        return [
            f"d{depth}{len(self.children[-1]) == 1}",
            f"p{depth}{path}",
            f"t{depth}{fact.tag}",
            f"k{depth}{fact.kind}",
            f"c{depth}{fact.concept}",
            f"h{depth}{above}",
            f"a{above}{path}",
            f"s{depth}{fact.shape}{fact.kind}",
        ]

    def _measure_depth(self, i: int) -> int:
        """Return the number of governors above a token."""
        depth = 0
        while self.parents[i] >= 0:
            i = self.parents[i]
            depth += 1
        return depth


class _Facts(NamedTuple):
    """What the features ask about one token with a fragment."""

    concept: str
    kind: str
    tag: str
    roles: str
    lemma: str
    marks: str
    shape: str


def _collect_facts(
    skeleton: Skeleton, fragments: Mapping[int, Fragment], lexicon: Lexicon
) -> dict[int, _Facts]:
    """Collect the facts of all tokens that have a fragment."""
    facts: dict[int, _Facts] = {}
    words, labels, tokens = skeleton.words, skeleton.labels, skeleton.tokens
    for i, fragment in fragments.items():
        concept = fragment.concept
        marks = "|".join(
            words[c]
            for c in skeleton.children[i]
            if (labels[c] in ("mark", "aux") and words[c] in _MARKS)
            or tokens[c].tag in _WH_TAGS
        )
        facts[i] = _Facts(
            concept=concept,
            kind=_name_kind(fragment),
            tag=tokens[i].tag,
            roles=lexicon.frames.get(concept, "-"),
            lemma=tokens[i].lemma.lower(),
            marks=marks,
            shape=skeleton.describe_arguments(i),
        )
    return facts


def _name_kind(fragment: Fragment) -> str:
    concept = fragment.concept
    kind = "f" if is_frame(concept) else concept if concept in ("and", "or") else "n"
    return kind + "+" if len(fragment.concepts) > 1 else kind
