"""Fragments: the small graph that one token gives.

Most tokens give one concept; some give more, around the node that carries the word:

```
teacher    (person :ARG0-of (teach-01*))         * marks the core, which carries the
bigger     (have-degree-91 :ARG2 (big*)            word and takes the arguments;
              :ARG3 (more))                      the first node is the head, which is
unhappy    (happy-01* :polarity -)                 what others point to
```
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from mathamr_kedro.amr.builtin.words import is_frame

_PIECE = re.compile(r"\(|\)|:\S+|[^\s():]+")


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
