"""Read and write run files: TREC form and both ARQMath submission forms.

What is written is scored as it stands: scores are made strictly decreasing in single
precision, so that no tie rule of any tool can change the order.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from mathamr_kedro.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.metrics.run_formats import (
    DOCUMENT_COLUMNS,
    RANK_COLUMNS,
    RunForm,
    check_form,
    detect_form,
)
from mathamr_kedro.metrics.runs import FloatArray, IntArray, Results, Run
from mathamr_kedro.metrics.text_files import (
    BadLines,
    Columns,
    Names,
    open_to_replace,
    read_columns,
)
from mathamr_kedro.types import FormulaId, PostId, TopicId


def read_run(
    path: Path | str,
    form: str | None = None,
    known_ids: Collection[str] = frozenset(),
    bad_lines: BadLines = "refuse",
    names: Names = "nfc",
) -> Run:
    """Read a run file, plain or gzip, with tabs or blanks between columns.

    Args:
        path: the file.
        form: ``trec``, ``arqmath1`` or ``arqmath2``; found out when absent.
        known_ids: ids that documents may have, to tell forms apart.
        bad_lines: what to do with lines of a wrong form.
        names: how to read names beyond ASCII.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: a line cannot be read, or the form cannot be told; the
            message names file and line.
    """
    path = Path(path)
    columns = read_columns(path, bad_lines, names)
    name, source = _name_of(path), path.name
    if not len(columns):
        return Run(name, {}, source)
    found = check_form(form, columns) if form else detect_form(columns, known_ids)
    if bad_lines == "skip":
        columns = _leave_out_unreadable(columns, found)
    results = _group(columns, found, need_ranks=bad_lines != "as_trec_eval")
    return Run(name, results, source, found == "arqmath2", columns.num_bad_lines)


def write_run(
    path: Path | str,
    results: Mapping[TopicId, Iterable[tuple[str, float]]],
    name: str,
    form: RunForm = "trec",
    depth: int | None = 1000,
    post_ids: Mapping[FormulaId, PostId] | None = None,
) -> None:
    """Write a run file, best result first.

    Args:
        path: the file; compressed where it ends in ``.gz``.
        results: document (or formula) and score by topic; equal scores keep the order
            in which they come.
        name: name of the run, last column.
        form: see :mod:`mathamr_kedro.metrics.run_formats`.
        depth: how many results per topic are written; ARQMath allows 1000.
        post_ids: post of each formula, for the form ``arqmath2``.

    Raises:
        ConfigurationError: the form needs post ids that are not given.
        MalformedInputError: a score is not finite, or an id or name holds a blank.
    """
    _check_word(name, "name of the run")
    with open_to_replace(Path(path)) as file:
        for topic, scored in results.items():
            best = sorted(scored, key=lambda pair: -pair[1])[:depth]
            scores = separate_scores([score for _, score in best])
            for rank, ((doc_id, _), score) in enumerate(zip(best, scores, strict=True)):
                cells = _cells_of(form, topic, _check_word(doc_id, "id"), post_ids)
                file.write("\t".join((*cells, str(rank + 1), str(score), name)) + "\n")


def separate_scores(scores: Sequence[float]) -> list[np.float32]:
    """Return falling scores as strictly falling numbers of single precision.

    A score is lowered, by as little as possible, only where it would tie.

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


def _group(columns: Columns, form: RunForm, need_ranks: bool) -> dict[TopicId, Results]:
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
    return {
        topic: Results(
            tuple(chain.from_iterable(ids[s] for s in parts)),
            np.concatenate([scores[s] for s in parts]),
            np.concatenate([ranks[s] for s in parts]),
        )
        for topic, parts in blocks.items()
    }


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


def _read_scores(columns: Columns, column: int) -> FloatArray:
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


def _leave_out_unreadable(columns: Columns, form: RunForm) -> Columns:
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


def _cells_of(
    form: RunForm, topic: str, doc_id: str, post_ids: Mapping[FormulaId, PostId] | None
) -> tuple[str, ...]:
    if form == "trec":
        return topic, "Q0", doc_id
    if form == "arqmath1":
        return topic, doc_id
    if post_ids is None or doc_id not in post_ids:
        raise ConfigurationError(
            f"Expected the post of formula {doc_id!r} to write the form 'arqmath2'"
        )
    return topic, doc_id, post_ids[doc_id]


def _check_word(word: str, what: str) -> str:
    if not word or any(c.isspace() for c in word):
        raise MalformedInputError(f"Expected a {what} without blanks (got {word!r})")
    return word
