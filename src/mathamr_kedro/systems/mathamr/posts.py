r"""Posts by their strings (Task 1).

The paper ranks formulas only; Appendix C of the thesis shows answers too and does not
say how they were ranked. Here an answer is as near as its question and itself are, both
as whole linearised graphs:

.. math:: \text{score}(q, a) = \cos(q, \text{question}(a)) \cdot \cos(q, a)

A document without a question is its own. Topics are searched by the model of the fold
of their formula: topic B.301 asks for a formula of the post of A.301.

::

    index/posts/
      posts.json            answers, and the rows of their questions
      0.f16 ... all.f16     a row for each post, by model
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.types import TopicId
from mathamr_kedro.systems.base import TASK_1_TYPES, Collection, Query
from mathamr_kedro.systems.mathamr.contexts import Contexts
from mathamr_kedro.systems.mathamr.encoder import TextEncoder
from mathamr_kedro.systems.vector_rows import VectorRows

_POSTS = "posts.json"
_LONGEST = 512
"""Tokens of a post: it is longer than the sentence of a formula."""

WriteVectors = Callable[[Path, TextEncoder, Sequence[str]], int]


def index_posts(
    contexts: Contexts,
    sources: Collection,
    models: Sequence[Path],
    folder: Path,
    write: WriteVectors,
) -> int:
    """Encode questions and answers by each model; return the bytes."""
    folder.mkdir()
    texts = dict(contexts.write_posts())
    posts = [p for p in sources.posts() if p.post_id in texts]
    posts = [p for p in posts if p.post_type in ("question", *TASK_1_TYPES)]
    rows = {post.post_id: row for row, post in enumerate(posts)}
    answers = {
        post.post_id: [row, rows.get(post.parent_id or "", row)]
        for row, post in enumerate(posts)
        if post.post_type in TASK_1_TYPES
    }
    write_text(folder / _POSTS, json.dumps(answers))
    strings = [texts[post.post_id] for post in posts]
    return sum(
        write(folder / model.name, TextEncoder(model, _LONGEST), strings)
        for model in models
    )


class PostStrings:
    """Ranks posts.

    Args:
        contexts: writes topics.
        model: folder of the models.
        folder: of the index.
        find_model: names the model of a topic.
    """

    def __init__(
        self,
        contexts: Contexts,
        model: Path,
        folder: Path,
        find_model: Callable[[TopicId], str],
    ) -> None:
        self._contexts, self._find_model = contexts, find_model
        answers = json.loads((folder / _POSTS).read_text(encoding="utf-8"))
        self._ids = list(answers)
        self._rows: NDArray[np.int64] = np.array(
            list(answers.values()), dtype=np.int64
        ).reshape(-1, 2)
        self._open = cache(lambda name: TextEncoder(model / name, _LONGEST))
        self._vectors = cache(lambda name: VectorRows(folder / name))

    def rank(self, topics: Sequence[Query], depth: int) -> list[Hits]:
        """Return the best answers for topics."""
        return [self._rank(topic, depth) for topic in topics]

    def _rank(self, topic: Query, depth: int) -> Hits:
        name = self._find_model(f"B{topic.key.removeprefix('A')}")
        (query,) = self._open(name).encode([self._contexts.write_topic(topic)])
        vectors = self._vectors(name)
        cosines = vectors.score(query[None], np.arange(len(vectors.rows)))
        scores = np.maximum(cosines, 0.0)[self._rows].prod(1)
        return Hits.rank(self._ids, scores).top(depth)
