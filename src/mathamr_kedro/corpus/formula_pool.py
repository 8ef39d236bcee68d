r"""Formulas without posts, their trees given as bracket strings.

```
formulas.tsv   visual_id  latex   slt                       opt
               17                 [V!x,a[N!2]]              [O!SUP,0[V!x],1[N!2]]
topics.tsv     topic  formula_id  latex  slt  opt
               B.1    q_4         x^2    [V!x,a[N!2]]       [O!SUP,0[V!x],1[N!2]]
qrels          B.1  0  17  3
```

Each formula becomes a post of its own, so that all stages work as they do on posts: the
visual id is the id of the post and of its formula. If its LaTeX is missing, the text
shows a bracket string. Other columns are ignored.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from mathamr_kedro.base.records import Failure, Formula, Judgment
from mathamr_kedro.corpus.judgments import read_judgments
from mathamr_kedro.corpus.placeholders import (
    split_punctuation,
    strip_delimiters,
    visual_id_of_latex,
)
from mathamr_kedro.corpus.raw import (
    Collection,
    Part,
    RawPost,
    RawTopic,
    convert,
    is_number,
    make_failure,
)
from mathamr_kedro.corpus.topics import year_of_topic
from mathamr_kedro.trec import read_table

_FORMULA_COLUMNS = ("visual_id", "latex", "slt", "opt")
_TOPIC_COLUMNS = ("topic", "formula_id", "latex", "slt", "opt")


@dataclass(frozen=True)
class FormulaPoolFiles:
    """Where the parts are, relative to the root or absolute; patterns may hold ``*``.

    An empty value means that the collection has no such part.
    """

    formulas: tuple[str, ...]
    topics: tuple[str, ...] = ()
    qrels: tuple[str, ...] = ()


class PoolRow(NamedTuple):
    """A formula with its visual id or its topic."""

    source: str
    place: str
    owner: str
    formula_id: str
    latex: str
    slt: str
    opt: str

    @property
    def spelling(self) -> str:
        """LaTeX, or else a bracket string: never empty."""
        return self.latex or self.slt or self.opt

    @property
    def shown_visual_id(self) -> str:
        """As in the clean text of its post or topic, so that its trees are found."""
        latex, _ = split_punctuation(strip_delimiters(self.spelling))
        return visual_id_of_latex(latex)

    @property
    def body(self) -> str:
        """The formula as it is in a post of Stack Exchange."""
        return (
            f'<span class="math-container" id="{html.escape(self.formula_id)}">'
            f"{html.escape(self.spelling)}</span>"
        )


class FormulaPool(Collection):
    """Lazy reader of formulas, topics that ask for formulas, and judgments."""

    task = "task2"
    """Of its topics."""

    files_of: ClassVar[Mapping[Part, str]] = {
        "posts": "formulas",
        "formulas": "formulas",
        "topics": "topics",
        "topic_formulas": "topics",
        "qrels": "qrels",
    }

    def posts(self) -> Iterator[RawPost | Failure]:
        """Yield each formula as a document of its own."""
        return convert(
            self._formula_rows(),
            lambda row: RawPost(row.source, row.place, row.owner, body=row.body),
        )

    def formulas(self) -> Iterator[Formula | Failure]:
        """Yield the formulas of the posts, with their trees."""
        for row in self._formula_rows():
            if not isinstance(row, Failure):  # reported with the posts
                yield _formula(row, self._name_visual(row))

    def topics(self) -> Iterator[RawTopic | Failure]:
        """Yield the topics of Task 2; each is only a formula."""
        return convert(
            self._topic_rows(),
            lambda row: RawTopic(
                source=row.source,
                topic_id=row.owner,
                task=self.task,
                year=year_of_topic(row.owner),
                question=row.body,
                formula_id=row.formula_id,
                latex=row.latex or None,
            ),
        )

    def topic_formulas(self) -> Iterator[Formula | Failure]:
        """Yield the formulas of the topics with their trees."""
        for row in self._topic_rows():
            if not isinstance(row, Failure):  # reported with the topics
                yield _formula(row, row.shown_visual_id)

    def judgments(self) -> Iterator[Judgment | Failure]:
        """Yield the judgments, by visual id."""
        for path in self.list_files("qrels"):
            yield from read_judgments(path, path.name, self.task)

    def _name_visual(self, row: PoolRow) -> str:
        """Return the visual id of a formula that may be returned."""
        return row.owner

    def _formula_rows(self) -> Iterator[PoolRow | Failure]:
        for path in self.list_files("formulas"):
            yield from convert(_read_rows(path, _FORMULA_COLUMNS), _check_visual_id)

    def _topic_rows(self) -> Iterator[PoolRow | Failure]:
        for path in self.list_files("topics"):
            yield from _read_rows(path, _TOPIC_COLUMNS)


def _formula(row: PoolRow, visual_id: str) -> Formula:
    return Formula(
        formula_id=row.formula_id,
        post_id=row.owner,
        visual_id=visual_id,
        latex=row.latex,
        presentation=row.slt,
        content=row.opt,
    )


def _read_rows(path: Path, columns: tuple[str, ...]) -> Iterator[PoolRow | Failure]:
    """Yield the rows of a table; its header names the columns, in any order.

    Raises:
        MalformedInputError: a column is missing.
    """

    def make(found: tuple[int, list[str]]) -> PoolRow | Failure:
        number, cells = found
        owner, *formula_id, latex, slt, opt = (cell.strip() for cell in cells)
        name = formula_id[0] if formula_id else owner
        row = PoolRow(path.name, f"line {number}", owner, name, latex, slt, opt)
        if not owner or not row.formula_id or not row.spelling:
            detail = f"expected an id and a formula in {' '.join(columns)!r}"
            return _failure(row, "empty_cells", detail)
        return row

    return convert(read_table(path, columns), make)


def _check_visual_id(row: PoolRow) -> PoolRow | Failure:
    if is_number(row.owner):
        return row
    detail = f"expected a number as visual id (got {row.owner!r})"
    return _failure(row, "bad_visual_id", detail)


def _failure(row: PoolRow, reason: str, detail: str) -> Failure:
    return make_failure(row.source, row.place, reason, detail, row.owner)
