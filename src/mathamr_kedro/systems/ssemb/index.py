"""The index: a structural vector of each visual id, a text vector of each context.

::

    structure.f16   (V, k)  visual ids by their shared operator graphs
    contexts.f16    (T, l)  different texts around formulas; none without a text model
    formulas.bin    which instances a visual id has, ptr (V + 1,); their ids, posts and
                    the context of each (-1: none)

Vectors are written batch by batch and read by mapping the files; a search holds a block
of them. Lists of ids take about 200 bytes for each instance while the index is built.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import Arrays, TextColumn, read_arrays, write_arrays
from mathamr_kedro.base.records import FormulaInstance, Post
from mathamr_kedro.base.types import PostId, VisualId
from mathamr_kedro.systems.ssemb.contexts import Contexts

STRUCTURE, CONTEXTS, _FORMULAS = "structure.f16", "contexts.f16", "formulas.bin"
_BLOCK = 65_536
"""Vectors that are compared at once."""


class VectorFile:
    """Vectors in a file, mapped into memory.

    Args:
        path: as :meth:`write` left it; one that is missing has no vectors.
        width: numbers of a vector.
    """

    def __init__(self, path: Path, width: int) -> None:
        is_empty = not path.is_file() or path.stat().st_size == 0
        self.vectors: NDArray[np.float16] = (
            np.zeros((0, width), dtype=np.float16)
            if is_empty
            else np.memmap(path, dtype=np.float16, mode="r").reshape(-1, width)
        )

    @staticmethod
    def write(path: Path, batches: Iterable[NDArray[np.float32]]) -> int:
        """Write vectors batch by batch; return how many numbers one has, 0 if none."""
        width = 0
        with path.open("wb") as file:
            for vectors in batches:
                width = vectors.shape[1]
                file.write(vectors.astype(np.float16).tobytes())
        return width

    def compare(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """(Q, N) cosines, as all vectors have length 1."""
        scores = np.empty((len(queries), len(self.vectors)), dtype=np.float32)
        for start in range(0, len(self.vectors), _BLOCK):
            block = slice(start, start + _BLOCK)
            scores[:, block] = queries @ self.vectors[block].astype(np.float32).T
        return scores


class InstanceList:
    """Instances of visual ids, gathered one by one; then their contexts."""

    def __init__(self) -> None:
        self._numbers: dict[VisualId, int] = {}
        self._visual = array("q")
        self._ids: list[str] = []
        self._posts: list[PostId] = []
        self._contexts = array("q")

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, visual_id: VisualId) -> bool:
        return visual_id in self._numbers

    def add(self, formula: FormulaInstance) -> None:
        """Append an instance."""
        number = self._numbers.setdefault(formula.visual_id, len(self._numbers))
        self._visual.append(number)
        self._ids.append(formula.formula_id)
        self._posts.append(formula.post_id)
        self._contexts.append(-1)

    def read_contexts(self, posts: Iterable[Post], contexts: Contexts) -> Iterator[str]:
        """Yield the different texts of each post; note which instance has which."""
        of_post: dict[PostId, list[int]] = {}
        for number, post_id in enumerate(self._posts):
            of_post.setdefault(post_id, []).append(number)
        count = 0
        for post in posts:
            numbers = of_post.get(post.post_id)
            if not numbers:
                continue
            known = dict(contexts.read(post))
            begin = contexts.read_first(post)
            texts: dict[str, int] = {}
            for number in numbers:
                text = known.get(self._ids[number], begin)
                if text.strip():
                    place = texts.setdefault(text, count + len(texts))
                    self._contexts[number] = place
            count += len(texts)
            yield from texts

    def save(self, folder: Path) -> None:
        """Write the instances, sorted by visual id, the first formula id first."""
        visual = np.array(self._visual, dtype=np.int64)
        lengths = np.array([len(i) for i in self._ids], dtype=np.int64)
        names = np.array(self._ids or [""])[: len(self._ids)]
        order = np.lexsort((names, lengths, visual))
        columns = {
            "formula": TextColumn.of(self._ids[i] for i in order),
            "post": TextColumn.of(self._posts[i] for i in order),
            "visual": TextColumn.of(self._numbers),
        }
        count = np.bincount(visual, minlength=len(self._numbers))
        arrays: Arrays = {
            "ptr": np.concatenate([[0], np.cumsum(count)]).astype(np.int64),
            "context": np.array(self._contexts, dtype=np.int64)[order],
        }
        for name, column in columns.items():
            arrays |= {f"{name}.text": column.text, f"{name}.ends": column.ends}
        write_arrays(folder / _FORMULAS, arrays)


class FormulaIndex:
    """What :class:`InstanceList` and :class:`VectorFile` wrote, to be searched."""

    def __init__(self, folder: Path, dimension: int, text_dimension: int) -> None:
        found = read_arrays(folder / _FORMULAS)
        self.ptr, self.context = found["ptr"], found["context"]
        self.formulas, self.posts, self.visuals = (
            TextColumn(found[f"{name}.text"], found[f"{name}.ends"])
            for name in ("formula", "post", "visual")
        )
        self.structure = VectorFile(folder / STRUCTURE, dimension)
        self.texts = VectorFile(folder / CONTEXTS, max(text_dimension, 1))
