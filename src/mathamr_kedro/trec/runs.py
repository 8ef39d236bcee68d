"""Runs: a ranked list for each topic, and the three formats of their files.

::

    form       columns
    trec       topic  Q0       document  rank   score  run     (Q0 may be any one word)
    arqmath1   topic  post     rank      score  run            ARQMath Task 1 submission
    arqmath2   topic  formula  post      rank   score  run     ARQMath Task 2 submission

A file with six columns may be ``trec`` or ``arqmath2``, with the document in column 3
or in column 2. Column 2 of ``trec`` is the same word throughout a topic; column 2 of
``arqmath2`` changes from line to line. If this does not decide it, the file is
rejected.

Written scores are strictly decreasing in single precision, so that no tie rule of any
tool can change the order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError, suggest
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.types import TopicId
from mathamr_kedro.trec.files import BadLines, Columns, open_to_replace

IntArray = npt.NDArray[np.int64]

RunForm = Literal["trec", "arqmath1", "arqmath2"]

RUN_FORMS: tuple[RunForm, ...] = get_args(RunForm)
_WIDTHS: dict[RunForm, int] = {"trec": 6, "arqmath1": 5, "arqmath2": 6}
DOCUMENT_COLUMNS: dict[RunForm, int] = {"trec": 2, "arqmath1": 1, "arqmath2": 1}
"""Column of the document or formula id, from 0."""
RANK_COLUMNS: dict[RunForm, int] = {"trec": 3, "arqmath1": 2, "arqmath2": 3}
"""Column of the rank, from 0; the score is right of it."""
_ASK = "say which it is: trec, arqmath1 or arqmath2 (--format on the command line)"


@dataclass(frozen=True)
class Run:
    """The ranked lists of one system.

    Lists keep the order of the search or the file. Scoring sorts them as trec_eval does
    (:mod:`mathamr_kedro.evaluation.metrics.rankings`).
    """

    name: str
    """Of the system, or of the file."""
    lists: Mapping[TopicId, Hits | FormulaHits]
    ranks: Mapping[TopicId, IntArray] = field(default_factory=dict)
    """Rank column of a file; trec_eval ignores it. Absent: the order of the list."""
    source: str = ""
    """File it came from, for messages."""
    holds_instances: bool = False
    """Ids are formula instances (an ARQMath Task 2 submission), not visual ids."""
    num_bad_lines: int = 0
    """Lines of the file that were skipped or cut."""
    task: int = 0
    """1 (answers) or 2 (formulas); 0 if the file does not tell."""
    topic_set: str = ""
    """Topic set of the run; empty: topics of all sets."""
    seconds: float = 0.0
    """Time of the searches, without building an index."""
    query_seconds: Mapping[TopicId, float] = field(default_factory=dict)
    """Time of each search; empty if several were made at once."""
    device: str = "cpu"
    """Device of torch on which the searches ran."""

    @classmethod
    def from_scores(
        cls, name: str, scores: Mapping[TopicId, Mapping[str, float]]
    ) -> Run:
        """Make a run from scores by topic and document, listed in the given order.

        >>> Run.from_scores("mine", {"A.1": {"17": 0.9, "4": 0.5}}).lists["A.1"].ids
        ['17', '4']
        """
        lists = {
            topic: Hits(list(by_id), np.array(list(by_id.values()), dtype=np.float64))
            for topic, by_id in scores.items()
        }
        return cls(name, lists)

    def documents(self, topic: TopicId) -> Hits:
        """Return a topic's list by the ids that are judged: posts or visual ids."""
        hits = self.lists[topic]
        if isinstance(hits, FormulaHits):
            return Hits(hits.visual_ids, hits.scores)
        return hits

    def ranks_of(self, topic: TopicId) -> IntArray:
        """Return the rank column of a topic; 1, 2, ... if there is none."""
        if topic in self.ranks:
            return self.ranks[topic]
        return np.arange(1, len(self.lists[topic].scores) + 1)


def find_form(
    columns: Columns, form: str | None = None, known_ids: Collection[str] = frozenset()
) -> RunForm:
    """Return the form of a run file with at least one row.

    Args:
        columns: the rows of the file.
        form: the given format; detected if absent.
        known_ids: ids that documents may have, e.g. judged ones; they decide if the
            columns do not.

    Raises:
        ConfigurationError: there is no such form.
        MalformedInputError: it is not a run, could have either of two formats, or has
            another number of columns than the given format.
    """
    if form is not None:
        return _check_form(form, columns)
    match columns.width:
        case 5:
            return _detect_five(columns)
        case 6:
            return _detect_six(columns, known_ids)
        case 4:
            raise MalformedInputError(
                f"Expected a run with 5 or 6 columns (got 4 in {columns.source}); "
                "four columns are the form of qrels"
            )
        case width:
            raise MalformedInputError(
                f"Expected a run with 5 or 6 columns (got {width}: "
                f"{columns.row(0)!r}) ({columns.place(0)})"
            )


def _check_form(form: str, columns: Columns) -> RunForm:
    known = next((f for f in RUN_FORMS if f == form), None)
    if known is None:
        raise ConfigurationError(
            f"Expected one of {list(RUN_FORMS)} as form of the run (got {form!r})"
            f"{suggest(form, RUN_FORMS)}"
        )
    if columns.width != _WIDTHS[known]:
        raise MalformedInputError(
            f"Expected {_WIDTHS[known]} columns in a run of the form {form!r} "
            f"(got {columns.width}: {columns.row(0)!r}) ({columns.place(0)})"
        )
    return known


def _detect_five(columns: Columns) -> RunForm:
    topics, second, *_, names = columns.cells
    if all(word.upper() == "Q0" for word in second):
        raise MalformedInputError(
            f"Expected 'topic Q0 document rank score run' (got 5 columns: "
            f"{columns.row(0)!r}) ({columns.place(0)}); add the column that is missing"
        )
    if any(topic.startswith("B.") for topic in topics):
        raise MalformedInputError(
            f"Expected 6 columns in a run of Task 2 topics (got 5: {columns.row(0)!r}) "
            f"({columns.place(0)}); if they are 'topic formula rank score run', {_ASK}"
        )
    if len(set(names)) > 1 and all(map(_is_number, names)):
        raise MalformedInputError(
            f"Expected 'topic post rank score run' (got numbers that change as run "
            f"name: {columns.row(0)!r}) ({columns.place(0)}); {_ASK}"
        )
    return "arqmath1"


def _detect_six(columns: Columns, known_ids: Collection[str]) -> RunForm:
    topics, second, *_ = columns.cells
    words = set(second)
    if len(words) == 1 and not second[0].isdigit():
        return "trec"  # Q0, xxx
    num_lines = Counter(topics)
    num_words = Counter(topic for topic, _ in set(zip(topics, second, strict=True)))
    long = [topic for topic, lines in num_lines.items() if lines > 1]
    changes = any(num_words[topic] > 1 for topic in long)
    if changes and _only_task2(num_lines):
        return "arqmath2"
    if len(words) == 1 and (long or not _only_task2(num_lines)):
        return "trec"
    return _decide_by_ids(columns, known_ids)


def _decide_by_ids(columns: Columns, known_ids: Collection[str]) -> RunForm:
    known = frozenset(known_ids)
    second, third = (sum(map(known.__contains__, columns.cells[i])) for i in (1, 2))
    if second and not third:
        return "arqmath2"
    if third and not second:
        return "trec"
    raise MalformedInputError(
        f"Six columns that may be 'topic Q0 document rank score run' or "
        f"'topic formula post rank score run' (got {columns.row(0)!r}) "
        f"({columns.place(0)}); {_ASK}"
    )


def _only_task2(topics: Collection[str]) -> bool:
    return all(topic.startswith("B.") for topic in topics)


def read_run(
    path: Path | str,
    form: str | None = None,
    known_ids: Collection[str] = frozenset(),
    bad_lines: BadLines = "refuse",
) -> Run:
    """Read a run file, plain or gzip, with tabs or blanks between columns.

    Args:
        path: the file.
        form: ``trec``, ``arqmath1`` or ``arqmath2``; detected if absent.
        known_ids: ids that documents may have, to tell forms apart.
        bad_lines: what to do with malformed lines.

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
        form: see this module; ``arqmath2`` writes formulas
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

    A score is lowered only if it would tie, and as little as possible.

    >>> [float(s) for s in separate_scores([2.0, 1.0, 1.0])]
    [2.0, 1.0, 0.9999999403953552]
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
    """Return the columns between topic and rank, and the scores."""
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
