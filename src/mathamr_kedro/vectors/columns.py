"""Posts and formulas by their numbers, shard behind shard, as engines count them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.vectors.post_vectors import POST_TYPES, PostVectors, Vectors
from mathamr_kedro.vectors.rescoring import Names


class Columns:
    """What a search needs of posts beside their vectors.

    ::

        shard 1        shard 2
        a   b   (c)    d             formulas of comments are no posts
        0   1          2             number in the space ``all``
    """

    def __init__(self, parts: Sequence[PostVectors]) -> None:
        self._parts = parts
        counts = [len(part.formula_ids) for part in parts]
        self.first_formula = np.cumsum([0, *counts], dtype=np.int64)
        """Number of the first formula of each shard."""

    @cached_property
    def names(self) -> dict[str, Names]:
        """Ids of the posts in the spaces ``all`` and ``doc``."""
        found = [key for part in self._parts for key in part.keys]
        keys = np.empty(len(found), dtype=np.object_)
        keys[:] = found
        return {space: keys[mask] for space, mask in self._members.items()}

    def allow(self, space: str, types: frozenset[str] | None) -> NDArray[np.bool_]:
        """Tell which posts of some types, or which formulas, may be returned."""
        if space == "formula":
            return _join([part.returnable for part in self._parts], np.bool_)
        codes = _join([part.post_types for part in self._parts], np.uint8)
        chosen = POST_TYPES if types is None else types
        known = [POST_TYPES.index(name) for name in chosen]
        return np.isin(codes[self._members[space]], known)

    @cached_property
    def _members(self) -> dict[str, NDArray[np.bool_]]:
        """Which posts are in a space; formulas beside the posts are in neither."""
        flags = {
            "all": [part.is_post for part in self._parts],
            "doc": [part.document_rows >= 0 for part in self._parts],
        }
        return {space: _join(found, np.bool_) for space, found in flags.items()}

    def read(self, column: str, formulas: NDArray[np.int64]) -> Names:
        """Return ``formula_ids``, ``visual_ids`` or posts (``keys``) of formulas.

        They are read when needed, as there are millions.
        """
        names = np.empty(len(formulas), dtype=np.object_)
        for places, part, rows in self._locate(formulas):
            chosen = part.formula_posts[rows] if column == "keys" else rows
            names[places] = list(getattr(part, column).take(chosen))
        return names

    def compare_formulas(
        self, query: Vectors, formulas: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the products of formulas with one vector (k,)."""
        products = np.empty(len(formulas))
        for places, part, rows in self._locate(formulas):
            vectors = part.vectors[part.formula_rows[rows]].astype(np.float64)
            products[places] = vectors @ query.astype(np.float64)
        return products

    def _locate(
        self, formulas: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], PostVectors, NDArray[np.int64]]]:
        where = np.searchsorted(self.first_formula, formulas, side="right") - 1
        for number in np.unique(where):
            places = np.flatnonzero(where == number)
            rows = formulas[places] - self.first_formula[number]
            yield places, self._parts[number], rows


def _join(parts: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)
