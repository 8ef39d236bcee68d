"""Pairs of texts of several kinds, and batches of one kind each.

::

    prepared/pairs/
      collection.jsonl.gz   {"question": ..., "answer": ...}, of the environment
      KIND.jsonl.gz         of further files
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.records import restore_latex
from mathamr_kedro.systems.base import Collection

Rows: TypeAlias = NDArray[np.int64]
TextPair: TypeAlias = tuple[str, str]

_PAIRS, _SUFFIX = "pairs", ".jsonl.gz"
_COLLECTION = "collection"
_HELD_OUT = 0.02
"""Share of the questions that choose the best epoch."""
_MOST_HELD_OUT = 1024
"""Pairs of a kind that choose it: more say the same, and take longer."""
_SORTED_TOGETHER = 16
"""Batches whose texts are sorted by length, so that little is padding."""


def write_pairs(
    data: Collection, files: Mapping[str, str], folder: Path
) -> dict[str, int]:
    """Write the pairs of a collection and those of further files; return counts.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: a record has no question or no answer.
        ConfigurationError: there are no pairs at all.
    """
    (folder / _PAIRS).mkdir()
    counts = {_COLLECTION: _write(folder, _COLLECTION, _read_collection(data))}
    for kind, place in files.items():
        counts[kind] = _write(folder, kind, _read_files(Path(place), kind))
    if not any(counts.values()):
        raise ConfigurationError(
            "Expected pairs of texts to learn from (got none): the collection has no "
            "training pairs, and systems.adapter.model.pairs names no file"
        )
    return counts


def _write(folder: Path, kind: str, pairs: Iterable[TextPair]) -> int:
    count = 0
    path = folder / _PAIRS / f"{kind}{_SUFFIX}"
    with gzip.open(path, "wt", encoding="utf-8", errors="surrogatepass") as file:
        for question, answer in pairs:
            record = {"question": question, "answer": answer}
            file.write(json.dumps(record) + "\n")
            count += 1
    if not count:
        path.unlink()
    return count


def _read_collection(data: Collection) -> Iterator[TextPair]:
    pairs = list(data.pairs())
    wanted = {key for pair in pairs for key in pair}
    texts = {
        post.post_id: restore_latex(post.text, post.formula_map)
        for post in data.posts()
        if post.post_id in wanted
    }
    for pair in pairs:
        if texts.get(pair.question_id) and texts.get(pair.answer_id):
            yield texts[pair.question_id], texts[pair.answer_id]


def _read_files(place: Path, kind: str) -> Iterator[TextPair]:
    files = sorted(place.glob("*.jsonl*")) if place.is_dir() else [place]
    if not files or not files[0].is_file():
        raise MissingInputError(
            f"Expected pairs of texts at {str(place)!r} (there are none); "
            f"systems.adapter.model.pairs.{kind} names a file .jsonl or .jsonl.gz, or "
            "a folder of them"
        )
    for file in files:
        opened = gzip.open if file.suffix == ".gz" else open
        with opened(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    record = json.loads(line)
                    pair = str(record["question"]), str(record["answer"])
                except (ValueError, KeyError, TypeError) as exc:
                    raise MalformedInputError(
                        f"{str(file)!r}, line {number}: expected a record with "
                        f"'question' and 'answer' ({exc!r})"
                    ) from exc
                if all(pair):
                    yield pair


class Batch(NamedTuple):
    """Pairs of one kind."""

    questions: list[str]
    answers: list[str]
    rows: tuple[Rows, Rows]
    """Places of both sides among all texts."""
    excluded: NDArray[np.bool_]
    """(B, B) answers that are no negatives of a question: they belong to it by another
    pair (another answer, another premise of its proof), or say the same as it."""


class TextPairs:
    """Pairs of one kind, some of them held out.

    Args:
        pairs: question and answer; both may occur in several pairs.

    >>> pairs = TextPairs([("a", "x"), ("a", "y"), ("b", "z")])
    >>> pairs.batch(np.arange(3)).excluded.astype(int).tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    """

    def __init__(self, pairs: Iterable[TextPair]) -> None:
        found = list(pairs)
        self.texts = list(dict.fromkeys(text for pair in found for text in pair))
        row_of = {text: row for row, text in enumerate(self.texts)}
        rows = [[row_of[text] for text in pair] for pair in found]
        self._rows = np.array(rows, dtype=np.int64).reshape(-1, 2)
        self._known = np.unique(self._key(*self._rows.T))
        held_out = {q: _hash(self.texts[q]) < _HELD_OUT for q in set(self._rows[:, 0])}
        is_held_out = np.array([held_out[q] for q in self._rows[:, 0]], dtype=np.bool_)
        self.train = np.flatnonzero(~is_held_out)
        self.held_out = np.flatnonzero(is_held_out)[:_MOST_HELD_OUT]

    @cached_property
    def lengths(self) -> Rows:
        """(P,) characters of each pair."""
        lengths = np.array([len(text) for text in self.texts], dtype=np.int64)
        return lengths[self._rows].sum(1)

    def batch(self, numbers: Rows) -> Batch:
        """Return some pairs as a batch."""
        questions, answers = self._rows[numbers].T
        keys = self._key(questions[:, None], answers)
        excluded = np.isin(keys, self._known) | (questions[:, None] == answers)
        np.fill_diagonal(excluded, val=False)
        return Batch(
            [self.texts[row] for row in questions],
            [self.texts[row] for row in answers],
            (questions, answers),
            excluded,
        )

    def cut(self, numbers: Rows, size: int) -> list[Rows]:
        """Cut pairs into batches, texts of one length together; one pair is none."""
        together = _SORTED_TOGETHER * size
        found = []
        for start in range(0, len(numbers), together):
            some = numbers[start : start + together]
            some = some[np.argsort(self.lengths[some], kind="stable")]
            found += [some[at : at + size] for at in range(0, len(some), size)]
        return [rows for rows in found if len(rows) > 1]

    def _key(self, questions: Rows, answers: Rows) -> Rows:
        return questions * len(self.texts) + answers


def load_pairs(prepared: Path) -> dict[str, TextPairs]:
    """Read what :func:`write_pairs` wrote, by kind."""
    found = sorted((prepared / _PAIRS).glob(f"*{_SUFFIX}"))
    return {
        path.name.removesuffix(_SUFFIX): TextPairs(_read_files(path, path.name))
        for path in found
    }


def draw_batches(
    kinds: Mapping[str, TextPairs], steps: int, size: int, rng: np.random.Generator
) -> list[tuple[str, Rows]]:
    """Draw about so many batches of all kinds, mixed.

    A kind has a share by the root of its number of pairs: large kinds do not drown
    small ones, and these are not learnt by heart.
    """
    roots = {kind: len(pairs.train) ** 0.5 for kind, pairs in kinds.items()}
    found: list[tuple[str, Rows]] = []
    for kind, pairs in kinds.items():
        wanted = size * max(1, round(steps * roots[kind] / sum(roots.values())))
        passes = -(-wanted // max(1, len(pairs.train)))
        order = [rng.permutation(pairs.train) for _ in range(passes)]
        drawn = np.concatenate(order)[:wanted]
        found += [(kind, rows) for rows in pairs.cut(drawn, size)]
    return [found[n] for n in rng.permutation(len(found))]


def _hash(text: str) -> float:
    """Return a number between 0 and 1, the same in every process."""
    content = text.encode("utf-8", errors="surrogatepass")
    number = int.from_bytes(hashlib.blake2b(content, digest_size=8).digest())
    return number / 2**64
