"""Three forms of run files, and how they are told apart.

```
form       columns
trec       topic  Q0       document  rank   score  run     (Q0 may be any one word)
arqmath1   topic  post     rank      score  run            ARQMath Task 1 submission
arqmath2   topic  formula  post      rank   score  run     ARQMath Task 2 submission
```

The trap: a file with six columns may be ``trec`` or ``arqmath2``, and the document
is in column 3 or in column 2. Column 2 of ``trec`` is the same word all over a
topic; column 2 of ``arqmath2`` changes from line to line. What cannot be decided is
refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Literal, get_args

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError, suggest
from mathamr_kedro.trec.columns import Columns

RunForm = Literal["trec", "arqmath1", "arqmath2"]
RUN_FORMS: tuple[RunForm, ...] = get_args(RunForm)

_WIDTHS: dict[RunForm, int] = {"trec": 6, "arqmath1": 5, "arqmath2": 6}
DOCUMENT_COLUMNS: dict[RunForm, int] = {"trec": 2, "arqmath1": 1, "arqmath2": 1}
"""Column of the document or formula id, from 0."""
RANK_COLUMNS: dict[RunForm, int] = {"trec": 3, "arqmath1": 2, "arqmath2": 3}
"""Column of the rank, from 0; the score is right of it."""

_ASK = "say which it is: trec, arqmath1 or arqmath2 (--format on the command line)"


def find_form(
    columns: Columns, form: str | None = None, known_ids: Collection[str] = frozenset()
) -> RunForm:
    """Return the form of a run file with at least one row.

    Args:
        columns: the rows of the file.
        form: the form that a person named; found out when absent.
        known_ids: ids that documents may have (judged ones, say); they decide if
            the form of the columns does not.

    Raises:
        ConfigurationError: there is no such form.
        MalformedInputError: it is no run, could be either of two forms, or has another
            number of columns than the form that was named.
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


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
