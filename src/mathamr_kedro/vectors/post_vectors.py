"""The vectors of posts: several of each, of three kinds, formulas with their ids.

A post with two formulas in two sentences, and a post with one sentence::

    key      type      vectors                       formula ids   visual ids
    "1801"   answer    F0 F1 S1 S2 D                 "55"  "56"    "7"  "4"
    "1802"   answer    S1 D

    ptr      0 5 7
    kinds    0 0 1 1 2 1 2         numbers  0 1 0 1 0 0 0
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import Arrays, TextColumn, spread_ranges
from mathamr_kedro.base.errors import MalformedInputError, suggest
from mathamr_kedro.base.ragged import RaggedVectors, scale_to_length_one
from mathamr_kedro.base.types import FormulaId, PostId, VisualId
from mathamr_kedro.graph import DOCUMENT, FORMULA, KIND_NAMES, POST_TYPES

Vectors: TypeAlias = NDArray[Any]
"""(P, k), each row of length 1; float32 or float16."""


_TOLERANCE = 0.01
"""How far the length of a vector may be from 1; half precision is off by 0.001."""
_PLAIN = ("post_types", "ptr", "vectors", "kinds", "numbers", "returnable")
_TEXTS = ("keys", "formula_ids", "visual_ids")


class PostEntry(NamedTuple):
    """One post, its vectors in the order formulas, sentences, document."""

    key: PostId
    post_type: str
    vectors: Vectors
    kinds: Sequence[int]
    numbers: Sequence[int]
    """``n`` of ``FORMULA_n``, or the number of the sentence."""
    formula_ids: Sequence[FormulaId] = ()
    """Of the formula vectors, in their order."""
    visual_ids: Sequence[VisualId] = ()
    returnable: Sequence[bool] | None = None
    """Whether Task 2 may return each formula (``d`` formulas: no); all if absent."""

    def to_bytes(self) -> bytes:
        """Return all of it, a line of JSON before the vectors."""
        about = self._asdict() | {
            "vectors": [self.vectors.dtype.str, *self.vectors.shape],
            "kinds": [int(kind) for kind in self.kinds],
            "numbers": [int(number) for number in self.numbers],
        }
        return json.dumps(about).encode() + b"\n" + self.vectors.tobytes()

    @classmethod
    def of_bytes(cls, content: bytes) -> PostEntry:
        """Undo :meth:`to_bytes`."""
        line, _, numbers = content.partition(b"\n")
        about = json.loads(line)
        dtype, *shape = about.pop("vectors")
        return cls(vectors=np.frombuffer(numbers, dtype).reshape(shape), **about)

    def document(self) -> Vectors | None:
        """(k,) the document vector; none if the structure has no document node."""
        places = np.flatnonzero(np.asarray(self.kinds) == DOCUMENT)
        return self.vectors[places[-1]] if len(places) else None

    def formula(self, formula_id: FormulaId) -> Vectors:
        """(k,) the vector of one formula: the query of a Task 2 topic."""
        if formula_id not in self.formula_ids:
            hint = suggest(formula_id, list(self.formula_ids))
            raise MalformedInputError(
                f"Expected a vector for formula {formula_id!r} of post {self.key!r}"
                f"{hint}"
            )
        places = np.flatnonzero(np.asarray(self.kinds) == FORMULA)
        return self.vectors[places[list(self.formula_ids).index(formula_id)]]


@dataclass(frozen=True, eq=False)
class PostVectors:
    """The vectors of many posts as flat arrays, in memory or mapped from a file."""

    keys: TextColumn
    post_types: NDArray[np.uint8]
    """(N,) index into :data:`POST_TYPES`."""
    nodes: RaggedVectors[NDArray[Any]]
    """With the columns ``kind`` and ``number``."""
    formula_ids: TextColumn
    visual_ids: TextColumn
    returnable: NDArray[np.bool_]

    @classmethod
    def of(
        cls, posts: Sequence[PostEntry], dtype: str = "float32", width: int = 0
    ) -> PostVectors:
        """Lay out posts; vectors are scaled to length 1 (``width`` if there are none).

        Raises:
            MalformedInputError: vectors are missing or zero, or ids do not fit them.
        """
        counts = [len(p.kinds) for p in posts]
        numbers = [n for p in posts for n in p.numbers]
        rows = [np.asarray(p.vectors, dtype=np.float64) for p in posts]
        vectors = np.concatenate(rows) if rows else np.zeros((0, width))
        flags = [
            [True] * len(p.formula_ids) if p.returnable is None else p.returnable
            for p in posts
        ]
        built = cls(
            keys=TextColumn.of(p.key for p in posts),
            post_types=np.array([_code(p) for p in posts], dtype=np.uint8),
            nodes=RaggedVectors(
                scale_to_length_one(vectors, dtype),
                np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
                {
                    "kind": np.array([k for p in posts for k in p.kinds], np.uint8),
                    "number": np.array(numbers, np.uint32),
                },
            ),
            formula_ids=TextColumn.of(i for p in posts for i in p.formula_ids),
            visual_ids=TextColumn.of(i for p in posts for i in p.visual_ids),
            returnable=np.array([f for flag in flags for f in flag], dtype=np.bool_),
        )
        built.check()
        return built

    def check(self) -> None:
        """Refuse arrays that do not fit, posts given twice, vectors not of length 1."""
        total, formulas = len(self.vectors), int((self.kinds == FORMULA).sum())
        found = {
            "ptr": (len(self.ptr) - 1, len(self.keys)),
            "post_types": (len(self.post_types), len(self.keys)),
            "ptr[-1]": (int(self.ptr[-1]), total),
            "kinds": (len(self.kinds), total),
            "numbers": (len(self.numbers), total),
            "formula_ids": (len(self.formula_ids), formulas),
            "visual_ids": (len(self.visual_ids), formulas),
            "returnable": (len(self.returnable), formulas),
        }
        for name, (got, expected) in found.items():
            if got != expected:
                raise MalformedInputError(
                    f"Expected {expected} for {name} of vectors (got {got})"
                )
        for place in np.flatnonzero(self.nodes.lengths < 1).tolist():
            raise MalformedInputError(
                f"Expected at least one vector for post {self.keys[place]!r} (got none)"
            )
        if (self.kinds >= len(KIND_NAMES)).any():
            raise MalformedInputError(f"Expected kinds among {KIND_NAMES}")
        for key, count in Counter(self.keys).items():
            if count > 1:
                raise MalformedInputError(
                    f"Expected each post once in a batch (got {key!r} {count} times)"
                )
        lengths = np.linalg.norm(self.vectors.astype(np.float32, copy=False), axis=1)
        for row in np.flatnonzero(~(np.abs(lengths - 1) < _TOLERANCE)):
            owner = int(np.searchsorted(self.ptr, row, side="right")) - 1
            raise MalformedInputError(
                f"Expected vectors of length 1 for post {self.keys[owner]!r} (got "
                f"length {float(lengths[row])!r})"
            )

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def vectors(self) -> Vectors:
        """(P, k) of all posts, one post after another."""
        return self.nodes.vectors

    @property
    def ptr(self) -> NDArray[np.int64]:
        """(N + 1,) where the vectors of each post start."""
        return self.nodes.ptr

    @property
    def kinds(self) -> NDArray[np.uint8]:
        """(P,) formula, sentence or document."""
        return self.nodes.columns["kind"]

    @property
    def numbers(self) -> NDArray[np.uint32]:
        """(P,) ``n`` of ``FORMULA_n``, or the number of the sentence."""
        return self.nodes.columns["number"]

    @property
    def width(self) -> int:
        """Numbers in a vector, the ``k`` of Eq. 3.4."""
        return self.vectors.shape[1]

    @property
    def is_post(self) -> NDArray[np.bool_]:
        """(N,) which are posts; the others have only formulas."""
        return self.post_types != POST_TYPES.index("formula")

    @cached_property
    def formula_ptr(self) -> NDArray[np.int64]:
        """(N + 1,) where the formulas of each post start among all formulas."""
        sums = np.concatenate([[0], np.cumsum(self.kinds == FORMULA, dtype=np.int64)])
        return sums[self.ptr]

    @cached_property
    def formula_rows(self) -> NDArray[np.int64]:
        """(F,) row of each formula vector."""
        return np.flatnonzero(self.kinds == FORMULA)

    @cached_property
    def formula_posts(self) -> NDArray[np.int64]:
        """(F,) post of each formula."""
        return np.repeat(np.arange(len(self)), np.diff(self.formula_ptr))

    @cached_property
    def document_rows(self) -> NDArray[np.int64]:
        """(N,) row of each document vector, -1 for a post without one."""
        rows = np.full(len(self), -1, dtype=np.int64)
        found = np.flatnonzero(self.kinds == DOCUMENT)
        rows[np.searchsorted(self.ptr, found, side="right") - 1] = found
        return rows

    def entry(self, place: int) -> PostEntry:
        """Return one post."""
        a, b = self.ptr[place : place + 2]
        first, last = self.formula_ptr[place : place + 2]
        formulas = np.arange(first, last)
        return PostEntry(
            self.keys[place],
            POST_TYPES[self.post_types[place]],
            self.vectors[a:b],
            self.kinds[a:b].tolist(),
            self.numbers[a:b].tolist(),
            list(self.formula_ids.take(formulas)),
            list(self.visual_ids.take(formulas)),
            self.returnable[first:last].tolist(),
        )

    def entries(self) -> Iterator[PostEntry]:
        """Return all posts."""
        return map(self.entry, range(len(self)))

    def take(self, places: Sequence[int] | NDArray[Any]) -> PostVectors:
        """Return the posts at ``places``, in that order."""
        chosen = np.asarray(places, dtype=np.int64)
        first = self.formula_ptr[chosen]
        formulas = spread_ranges(first, self.formula_ptr[chosen + 1] - first)
        return PostVectors(
            self.keys.take(chosen),
            self.post_types[chosen],
            self.nodes.take(chosen),
            self.formula_ids.take(formulas),
            self.visual_ids.take(formulas),
            self.returnable[formulas],
        )

    @classmethod
    def join(cls, parts: Sequence[PostVectors]) -> PostVectors:
        """Concatenate batches of posts."""
        return cls(
            TextColumn.join([p.keys for p in parts]),
            np.concatenate([p.post_types for p in parts]),
            RaggedVectors.join([p.nodes for p in parts]),
            TextColumn.join([p.formula_ids for p in parts]),
            TextColumn.join([p.visual_ids for p in parts]),
            np.concatenate([p.returnable for p in parts]),
        )

    def astype(self, dtype: str) -> PostVectors:
        """Return the posts with vectors of another type."""
        nodes = replace(self.nodes, vectors=self.vectors.astype(dtype))
        return replace(self, nodes=nodes)

    def to_arrays(self) -> Arrays:
        """Return everything as named arrays."""
        arrays: Arrays = {name: getattr(self, name) for name in _PLAIN}
        for name in _TEXTS:
            column: TextColumn = getattr(self, name)
            arrays |= {f"{name}.text": column.text, f"{name}.ends": column.ends}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> PostVectors:
        """Undo :meth:`to_arrays`."""
        columns = {"kind": arrays["kinds"], "number": arrays["numbers"]}
        parts = {n: (arrays[f"{n}.text"], arrays[f"{n}.ends"]) for n in _TEXTS}
        return cls(
            post_types=arrays["post_types"],
            nodes=RaggedVectors(arrays["vectors"], arrays["ptr"], columns),
            returnable=arrays["returnable"],
            **{name: TextColumn(*part) for name, part in parts.items()},
        )


def _code(post: PostEntry) -> int:
    if post.post_type not in POST_TYPES:
        raise MalformedInputError(
            f"Expected a post type among {list(POST_TYPES)} for post {post.key!r} "
            f"(got {post.post_type!r}){suggest(post.post_type, POST_TYPES)}"
        )
    return POST_TYPES.index(post.post_type)
