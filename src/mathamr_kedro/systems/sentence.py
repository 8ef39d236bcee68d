"""Sentence encoders as systems: one vector of each text, compared with all others.

===============  ==========================================  ===============
system           what it compares                            finds
===============  ==========================================  ===============
minilm           a sentence encoder over text with LaTeX     posts, formulas
minilm_title     the same, and the title of the question     posts
minilm_question  the same, and the whole question            posts
===============  ==========================================  ===============

``mpnet``, ``mpnet_title`` and ``mpnet_question`` are the same with all-mpnet-base-v2,
``mathamr_text_small`` and ``mathamr_text`` with the released adapters of both models,
``text``, ``text_title`` and ``text_question`` with any model in a folder
(:mod:`mathamr_kedro.text.models`). An index holds four bytes for each dimension of each
post or visual id (MiniLM 1.5 KB).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import Hits, merge_hits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.base.records import FormulaInstance, Post, restore_latex
from mathamr_kedro.model import current_compute
from mathamr_kedro.systems.base import (
    TASK_1_TYPES,
    Collection,
    PostTypes,
    System,
    TextIndex,
    choose_instances,
    load_formulas,
    name_formulas,
    save_formulas,
)
from mathamr_kedro.systems.changes import Changes
from mathamr_kedro.systems.query import Query, Target
from mathamr_kedro.text import (
    ADAPTERS,
    TEXT_MODELS,
    SentenceEncoder,
    find_text_model,
    identify_adapter,
)
from mathamr_kedro.vectors import ExactSpace

_BESIDE = ("_title", "_question")
_TEXTS_AT_ONCE = 2048
_VECTORS, _IDS = "vectors.npy", "ids.json"

_Texts: TypeAlias = tuple[Iterable[tuple[str, str, str]], Mapping[str, str], int | None]
"""Ids, types and texts; titles by id; how many texts there are, if that is known."""


def name_text_model(system: str, text_model: str | None) -> str | None:
    """Return the model of a system that encodes sentences; ``None`` for the others.

    >>> name_text_model("mpnet_title", None), name_text_model("bm25", None)
    ('mpnet', None)

    Raises:
        ConfigurationError: ``text`` without the folder of a model.
    """
    name = system.removesuffix("_title").removesuffix("_question")
    if name == "text" and text_model is None:
        raise ConfigurationError(
            f"Expected evaluation.text_model, the folder of a model, for {system!r}"
        )
    if name == "text":
        return text_model
    return name if name in TEXT_MODELS or name in ADAPTERS else None


def load_encoder(model: str) -> SentenceEncoder:
    """Load a sentence encoder on the device that systems compute on."""
    device = str(current_compute().choose_device())
    return _load(find_text_model(model), device)


@lru_cache(maxsize=2)  # several systems have the same model
def _load(folder: Path, device: str) -> SentenceEncoder:
    return SentenceEncoder(folder, device)


class SentenceVectors(System):
    """One vector of each text by a sentence encoder, or its sum with the title's."""

    def __init__(self, name: str, model: str) -> None:
        self.name, self.model = name, model
        self.known_model = model if model in TEXT_MODELS else ""
        """Name of a model that is always the same, unlike one in a folder."""
        if model in ADAPTERS:
            self.VERSION = identify_adapter(model)
            self.known_model = f"{model}-{self.VERSION}"
        finds: tuple[Target, ...] = ("posts", "formulas")
        self.finds = frozenset(finds[:1] if name.endswith(_BESIDE) else finds)
        self.index_reads: tuple[str, ...] = tuple(sorted(self.finds))

    def index(self, data: Collection, model: Path, folder: Path) -> Mapping[str, Any]:
        """Encode all texts and write their vectors."""
        encoder = load_encoder(self.model)
        counts: dict[str, Any] = {}
        for target in sorted(self.finds):
            part = folder / target
            part.mkdir()
            read = self._read_posts if target == "posts" else _read_formulas
            texts, titles, total = read(data, part)
            counts[target] = self._write(part, encoder, texts, titles, total)
        files = [file for file in folder.rglob("*") if file.is_file()]
        return {**counts, "bytes": sum(file.stat().st_size for file in files)}

    def open(self, data: Collection, model: Path, folder: Path) -> SentenceIndex:
        """Return the index; model and vectors are loaded when it is first asked."""
        return SentenceIndex(self, folder)

    def _read_posts(self, data: Collection, folder: Path) -> _Texts:
        titles: dict[str, str] = {}
        if self.name.endswith(_BESIDE):
            restore = _restore_title if self.name.endswith("_title") else _restore
            asked = {p.post_id: restore(p) for p in data.posts() if p.title}
            parents = ((p.post_id, p.parent_id or "") for p in data.posts())
            titles = {key: asked[q] for key, q in parents if q in asked}
        posts = (p for p in data.posts() if p.post_type in TASK_1_TYPES)
        texts = ((p.post_id, p.post_type, _restore(p)) for p in posts)
        return texts, titles, data.count(TASK_1_TYPES)

    def _write(
        self,
        folder: Path,
        encoder: SentenceEncoder,
        texts: Iterable[tuple[str, str, str]],
        titles: Mapping[str, str],
        total: int | None,
    ) -> int:
        ids: list[tuple[str, str]] = []
        parts: list[NDArray[np.float32]] = []
        name = f"texts encoded by {Path(self.model).name}"
        stream = report_progress(iter(texts), name, total=total)
        while batch := list(islice(stream, _TEXTS_AT_ONCE)):
            ids += [(key, kind) for key, kind, _ in batch]
            texts_of = [(key, text) for key, _, text in batch]
            parts.append(_encode(encoder, texts_of, titles))
        (folder / _IDS).write_text(json.dumps(ids), encoding="utf-8")
        vectors = np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)
        np.save(folder / _VECTORS, vectors)
        return len(ids)


def _read_formulas(data: Collection, folder: Path) -> _Texts:
    chosen = choose_instances(data.formulas())
    save_formulas(folder, chosen.values())
    texts = ((key, "formula", formula.latex) for key, formula in chosen.items())
    return texts, {}, len(chosen)


class SentenceIndex(TextIndex):
    """Ranks texts by the cosine of their vector with that of a query."""

    def __init__(self, system: SentenceVectors, folder: Path) -> None:
        super().__init__(system.name, system.finds)
        self._system, self._folder = system, folder
        self._spaces: dict[Target, list[_TextSpace]] = {}
        self._made: dict[Post, bytes] = {}
        """Vectors of posts that were added."""

    def rank(
        self,
        queries: Sequence[Query],
        depth: int,
        ranking: str | None = None,
        types: PostTypes = None,
    ) -> Sequence[Hits]:
        """Return the texts nearest to each query."""
        if not queries:
            return []
        target = queries[0].target
        if target == "posts":
            texts = [_restore(query) for query in queries]
            return self._search(target, texts, depth, types)
        found = self._search(target, [q.asked_formula.latex for q in queries], depth)
        return [name_formulas(hits, self._formulas) for hits in found]

    def warm_up(self) -> None:
        """Load the model: half a minute on a busy machine."""
        self._encoder.encode(["prime"])

    def update(self, changes: Changes) -> None:
        """Find what was added or replaced after indexing, and not what was deleted."""
        super().update(changes)
        if "posts" in self._spaces:
            self._spaces["posts"] = self._add_changed(self._spaces["posts"][0])

    @cached_property
    def _encoder(self) -> SentenceEncoder:
        return load_encoder(self._system.model)

    @cached_property
    def _formulas(self) -> dict[str, FormulaInstance]:
        return load_formulas(self._folder / "formulas")

    def _search(
        self,
        target: Target,
        questions: Sequence[str],
        depth: int,
        types: PostTypes = None,
    ) -> list[Hits]:
        if target not in self._spaces:
            indexed = _TextSpace.load(self._folder / target)
            is_changed = target == "posts"
            self._spaces[target] = (
                self._add_changed(indexed) if is_changed else [indexed]
            )
        spaces = [space for space in self._spaces[target] if space.finds(types)]
        if not spaces:
            return [Hits([], np.zeros(0)) for _ in questions]
        vectors = self._encoder.encode(questions)
        queries = RaggedVectors.of([row[None] for row in vectors])
        found = [space.search(queries, depth, types) for space in spaces]
        return [merge_hits(lists, depth) for lists in zip(*found, strict=True)]

    def _add_changed(self, indexed: _TextSpace) -> list[_TextSpace]:
        """Return what was indexed, without what was changed, and what was added."""
        indexed.hide(self._changes.keys)
        added = [p for p in self._changes.added.values() if p.post_type in TASK_1_TYPES]
        if not added:
            return [indexed]
        rows = [(post.post_id, post.post_type) for post in added]
        return [indexed, _TextSpace(rows, self._encode_added(added))]

    def _encode_added(self, posts: Sequence[Post]) -> NDArray[np.float32]:
        """Encode posts that were added, each once."""
        made = {post: self._made[post] for post in posts if post in self._made}
        name, cache = self._system.known_model, self._changes.cache
        if name:
            others = {p.post_id: p for p in posts if p not in made}
            known = cache.find(name, others.values())
            made |= {others[key]: content for key, content in known.items()}
        if new := [post for post in posts if post not in made]:
            vectors = self._encoder.encode([_restore(post) for post in new])
            encoded = {p: row.tobytes() for p, row in zip(new, vectors, strict=True)}
            made |= encoded
            if name:
                cache.keep(name, encoded)
        self._made = made
        return np.stack([np.frombuffer(made[post], np.float32) for post in posts])


class _TextSpace:
    """Texts by their vectors, with ids and types."""

    def __init__(
        self, rows: Sequence[Sequence[str]], vectors: NDArray[np.float32]
    ) -> None:
        self._space = ExactSpace()
        if rows:
            self._space.add(RaggedVectors.one_each(vectors))
        self._names = np.array(rows, dtype=np.object_).reshape(len(rows), 2)
        self._hidden: frozenset[str] = frozenset()
        self._allowed: dict[PostTypes, NDArray[np.bool_]] = {}

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what was indexed."""
        rows = json.loads((folder / _IDS).read_text("utf-8"))
        return cls(rows, np.load(folder / _VECTORS))

    def hide(self, keys: frozenset[str]) -> None:
        """Find some texts no more, and all others."""
        self._hidden, self._allowed = keys, {}

    def finds(self, types: PostTypes) -> bool:
        """Tell whether there are texts of some types."""
        return bool(self._allow(types).any())

    def search(
        self, queries: RaggedVectors, depth: int, types: PostTypes
    ) -> list[Hits]:
        """Return the nearest texts of some types."""
        hidden = self._space.hide(self._allow(types))
        return self._space.search(queries, depth, self._names[:, 0].take, hidden)

    def _allow(self, types: PostTypes) -> NDArray[np.bool_]:
        if types not in self._allowed:
            allowed = ~np.isin(self._names[:, 0], [*self._hidden])
            if types is not None:
                allowed &= np.isin(self._names[:, 1], types)
            self._allowed[types] = allowed
        return self._allowed[types]


def _encode(
    encoder: SentenceEncoder,
    batch: Sequence[tuple[str, str]],
    titles: Mapping[str, str],
) -> NDArray[np.float32]:
    vectors = encoder.encode([text for _, text in batch])
    titled = [n for n, (key, _) in enumerate(batch) if key in titles]
    if titled:
        vectors[titled] += encoder.encode([titles[batch[n][0]] for n in titled])
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _restore(text: Post | Query) -> str:
    return restore_latex(text.text, text.formula_map)


def _restore_title(post: Post) -> str:
    """Return the title, with which the text of a question begins."""
    end = len(post.title)
    return restore_latex(post.text[:end], [m for m in post.formula_map if m.end <= end])
