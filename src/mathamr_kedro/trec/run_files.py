"""Read and write run files: TREC form and both ARQMath submission forms.

What is written is scored as it is: scores are made strictly decreasing in single
precision, so that no tie rule of any tool can change the order.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.types import TopicId
from mathamr_kedro.trec.columns import BadLines, Columns
from mathamr_kedro.trec.files import open_to_replace
from mathamr_kedro.trec.run_forms import (
    DOCUMENT_COLUMNS,
    RANK_COLUMNS,
    RunForm,
    find_form,
)
from mathamr_kedro.trec.runs import IntArray, Run


def read_run(
    path: Path | str,
    form: str | None = None,
    known_ids: Collection[str] = frozenset(),
    bad_lines: BadLines = "refuse",
) -> Run:
    """Read a run file, plain or gzip, with tabs or blanks between columns.

    Args:
        path: the file.
        form: ``trec``, ``arqmath1`` or ``arqmath2``; found out when absent.
        known_ids: ids that documents may have, to tell forms apart.
        bad_lines: what to do with lines of a wrong form.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: a line cannot be read, or the form cannot be detected; the
            message names file and line.
    """
    path = Path(path)
    columns = Columns.read(path, bad_lines)
    empty = Run(_name_of(path), {}, source=path.name)
    if not len(columns):
        return empty
    found = find_form(columns, form, known_ids)
    if bad_lines == "skip":
        columns = _skip_unreadable(columns, found)
        if not len(columns):
            return replace(empty, num_bad_lines=columns.num_bad_lines)
    lists, ranks = _group(columns, found, need_ranks=bad_lines != "as_trec_eval")
    return replace(
        empty,
        lists=lists,
        ranks=ranks,
        holds_instances=found == "arqmath2",
        num_bad_lines=columns.num_bad_lines,
    )


def write_run(
    path: Path | str, run: Run, form: RunForm = "trec", depth: int | None = 1000
) -> None:
    """Write a run file, best result first; equal scores keep the order of the run.

    Args:
        path: the file; compressed if it ends in ``.gz``.
        run: its name becomes the last column.
        form: see :mod:`mathamr_kedro.trec.run_forms`; ``arqmath2`` writes formulas
            with their posts, the others write posts or visual ids.
        depth: how many results per topic are written; ARQMath allows 1000.

    Raises:
        ConfigurationError: the form needs formulas, and the run has none.
        MalformedInputError: a score is not finite, or an id or name holds a blank.
    """
    _check_word(run.name, "name of the run")
    with open_to_replace(Path(path)) as file:
        for topic in run.lists:
            columns, values = _columns_of(run, topic, form)
            best = np.argsort(-values, kind="stable")[:depth].tolist()
            scores = separate_scores(values[best].tolist())
            for rank, (row, score) in enumerate(zip(best, scores, strict=True)):
                cells = (_check_word(column[row], "id") for column in columns)
                end = (str(rank + 1), str(score), run.name)
                file.write("\t".join((topic, *cells, *end)) + "\n")


def separate_scores(scores: Sequence[float]) -> list[np.float32]:
    """Return falling scores as strictly falling numbers of single precision.

    A score is lowered, by as little as possible, only if it would tie.

    >>> [float(s) for s in separate_scores([2.0, 1.0, 1.0])]
    [2.0, 1.0, 0.9999999403953552]

    Raises:
        MalformedInputError: a score is not finite.
    """
    separate: list[np.float32] = []
    for score in scores:
        if not math.isfinite(score):
            raise MalformedInputError(f"Expected a finite score (got {score!r})")
        value = np.float32(score)
        if separate and value >= separate[-1]:
            value = np.nextafter(separate[-1], np.float32(-np.inf))
        separate.append(value)
    return separate


def _name_of(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    for suffix in (".tsv", ".txt", ".res", ".run", ".trec", ".csv"):
        name = name.removesuffix(suffix)
    return name


def _group(
    columns: Columns, form: RunForm, need_ranks: bool
) -> tuple[dict[TopicId, Hits], dict[TopicId, IntArray]]:
    rank_column = RANK_COLUMNS[form]
    topics = columns.cells[0]
    ids = columns.cells[DOCUMENT_COLUMNS[form]]
    if need_ranks or all(map(_is_whole, columns.cells[rank_column])):
        ranks = _read_ranks(columns, rank_column)
    else:
        ranks = np.arange(1, len(columns) + 1)
    scores = _read_scores(columns, rank_column + 1)
    starts = [i for i, topic in enumerate(topics) if not i or topic != topics[i - 1]]
    blocks: dict[TopicId, list[slice]] = {}
    for start, end in zip(starts, [*starts[1:], len(topics)], strict=True):
        blocks.setdefault(topics[start], []).append(slice(start, end))
    lists = {
        topic: Hits(
            list(chain.from_iterable(ids[s] for s in parts)),
            np.concatenate([scores[s] for s in parts]),
        )
        for topic, parts in blocks.items()
    }
    by_topic = {
        topic: np.concatenate([ranks[s] for s in parts])
        for topic, parts in blocks.items()
    }
    return lists, by_topic


def _read_ranks(columns: Columns, column: int) -> IntArray:
    cells = columns.cells[column]
    try:
        return np.array(list(map(int, cells)), dtype=np.int64)
    except (ValueError, OverflowError) as exc:
        row = next(i for i, cell in enumerate(cells) if not _is_whole(cell))
        raise MalformedInputError(
            f"Expected a whole number as rank in column {column + 1} "
            f"(got {cells[row]!r}) ({columns.place(row)}); run files have no header"
        ) from exc


def _read_scores(columns: Columns, column: int) -> npt.NDArray[np.float64]:
    cells = columns.cells[column]
    try:
        scores = np.array(list(map(float, cells)))
    except ValueError:
        scores = np.array([np.nan])
    if not np.isnan(scores).any():
        return scores
    row = next(i for i, cell in enumerate(cells) if not _is_number(cell))
    raise MalformedInputError(
        f"Expected a number as score in column {column + 1} (got {cells[row]!r}) "
        f"({columns.place(row)})"
    )


def _skip_unreadable(columns: Columns, form: RunForm) -> Columns:
    ranks, scores = (columns.cells[RANK_COLUMNS[form] + i] for i in (0, 1))
    pairs = enumerate(zip(ranks, scores, strict=True))
    kept = [i for i, (rank, score) in pairs if _is_whole(rank) and _is_number(score)]
    return Columns(
        [[column[i] for i in kept] for column in columns.cells],
        [columns.line_numbers[i] for i in kept],
        columns.source,
        columns.num_bad_lines + len(columns) - len(kept),
    )


def _is_whole(cell: str) -> bool:
    try:
        return abs(int(cell)) < 2**63
    except ValueError:
        return False


def _is_number(cell: str) -> bool:
    try:
        return not math.isnan(float(cell))
    except ValueError:
        return False


def _columns_of(
    run: Run, topic: TopicId, form: RunForm
) -> tuple[list[Sequence[str]], npt.NDArray[np.float64]]:
    """Return what is between topic and rank, and the scores."""
    hits = run.lists[topic]
    if form == "arqmath2":
        if not isinstance(hits, FormulaHits):
            raise ConfigurationError(
                f"Expected formulas with their posts to write the form 'arqmath2' "
                f"(got documents for topic {topic!r} of {run.name!r})"
            )
        return [hits.ids, hits.post_ids], hits.scores
    found = run.documents(topic)
    names: list[Sequence[str]] = (
        [found.ids] if form == "arqmath1" else [["Q0"] * len(found), found.ids]
    )
    return names, found.scores


def _check_word(word: str, what: str) -> str:
    if not word or any(c.isspace() for c in word):
        raise MalformedInputError(f"Expected a {what} without blanks (got {word!r})")
    return word
