"""Result tables as Markdown, CSV and LaTeX.

```
| Formula Mode   | nDCG'  | MAP'   |
|----------------|--------|--------|
| Both (OPT+SLT) | 0.497* | 0.150* |       marked: differs from the baseline
| None†          | 0.404  | 0.106  |       †: the baseline
```
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from mathamr_kedro.base.formatting import format_score
from mathamr_kedro.evaluation.stats import Comparison

MISSING = "–"
"""Shown if there is no figure."""


@dataclass(frozen=True)
class Column:
    """A column of figures."""

    key: str
    """Name of the measure or figure."""
    title: str
    """``{device}`` is replaced by what was measured: CPU, GPU, or both."""
    decimals: int = 3
    group: str = ""
    """Heading over several columns."""
    show_std: bool = True
    """Whether tables of means show the deviation."""
    scale: float = 1.0
    """Factor before showing, e.g. 1e-6 with the unit ``M``."""
    unit: str = ""
    tested: str = ""
    """Per-topic values that decide its asterisk; empty: those of ``key``."""
    signed: bool = False
    """Whether positive figures have a plus: differences."""


@dataclass(frozen=True)
class Figure:
    """One number of a table."""

    value: float
    std: float | None = None
    marked: bool = False
    """Whether it differs significantly from the baseline."""
    interval: tuple[float, float] | None = None
    """Confidence interval, shown in brackets."""


Content: TypeAlias = Figure | str | None
"""Content of a cell: a number, a text, or nothing."""
Values: TypeAlias = Mapping[str, Content | float]
"""What a row holds by the keys of columns."""
Labels: TypeAlias = str | tuple[str, ...]
"""What a row is called."""


@dataclass(frozen=True)
class Table:
    """A table of figures with one or more columns of labels at the left."""

    title: str
    label_titles: Sequence[str]
    columns: Sequence[Column]
    rows: Mapping[Any, Values]
    """By label, or labels (:data:`Labels`); what a row lacks is empty."""
    notes: Sequence[str] = ()
    baseline: Labels | None = None
    """The row that others are compared with."""
    tests: Sequence[Comparison] | None = None
    """Those behind its asterisks; ``None``: nothing was to be tested."""

    def list_lines(self) -> list[list[str]]:
        """Return the texts of all cells by line, the titles first."""
        titles = [_full_title(column, " ") for column in self.columns]
        return [[*self.label_titles, *titles], *_text_rows(self)]

    def to_markdown(self) -> str:
        """Return the table as Markdown, columns aligned for reading as plain text."""
        lines = [[c.replace("|", r"\|") for c in line] for line in self.list_lines()]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        num_labels = len(self.label_titles)
        rule = [
            "-" * width if i < num_labels else "-" * (width - 1) + ":"
            for i, width in enumerate(widths)
        ]
        aligned = [
            [
                cell.ljust(width) if i < num_labels else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ]
            for line in [lines[0], rule, *lines[1:]]
        ]
        body = "\n".join("| " + " | ".join(line) + " |" for line in aligned)
        notes = "".join(f"\n\n{note}" for note in self.notes)
        return f"**{self.title}**\n\n{body}{notes}\n"

    def to_csv(self) -> str:
        """Return the table as CSV with full precision.

        A column with deviations has a second one, ``... std``; a column with marks has
        ``... significant`` (1 or 0). If there is a baseline, a column names it.
        """
        header = list(self.label_titles)
        lines: list[list[object]] = [[*split_labels(labels)] for labels in self.rows]

        def add(title: str, cells: Iterable[object]) -> None:
            header.append(title)
            for line, cell in zip(lines, cells, strict=True):
                line.append(cell)

        if self.baseline in self.rows:
            add("baseline", [int(labels == self.baseline) for labels in self.rows])
        for column in self.columns:
            title = _full_title(column, " / ")
            # A unit in the cell is dropped with its scale; one in the title stays.
            scale = 1.0 if column.unit else column.scale
            cells = [_read_cell(row, column) for row in self.rows.values()]
            figures = [c if isinstance(c, Figure) else None for c in cells]
            add(title, [_csv_value(cell, column, scale) for cell in cells])
            stds = [None if f is None else f.std for f in figures]
            if any(std is not None for std in stds):
                shown = ["" if std is None else repr(std * scale) for std in stds]
                add(f"{title} std", shown)
            if any(f.marked for f in figures if f):
                marks = [int(f.marked) if f else "" for f in figures]
                add(f"{title} significant", marks)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([header, *lines])
        return text.getvalue()

    def to_latex(self) -> str:
        """Return the table as LaTeX in the style of the package ``booktabs``."""
        num_labels = len(self.label_titles)
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex(self.title)}}}",
            rf"\begin{{tabular}}{{{'l' * num_labels}{'r' * len(self.columns)}}}",
            r"\toprule",
            *_latex_groups(self),
            _latex_line([*self.label_titles, *(c.title for c in self.columns)]),
            r"\midrule",
            *(_latex_line(row) for row in _text_rows(self)),
            r"\bottomrule",
            r"\end{tabular}",
        ]
        if self.notes:
            notes = " ".join(_latex(note) for note in self.notes)
            lines.append(rf"\par\smallskip{{\footnotesize {notes}}}")
        return "\n".join([*lines, r"\end{table}", ""])


def split_labels(labels: Labels) -> tuple[str, ...]:
    """Return the labels of a row, one or several."""
    return (labels,) if isinstance(labels, str) else labels


def list_columns(keys: Iterable[str], **options: Any) -> tuple[Column, ...]:
    """Return columns whose titles are their keys."""
    return tuple(Column(key, key, **options) for key in keys)


def format_p(value: float) -> str:
    """Return a p-value as text.

    >>> format_p(0.0312), format_p(0.0000312)
    ('0.0312', '3e-05')
    """
    return f"{value:.4f}" if value >= 1e-4 else f"{value:.0e}"


def format_figure(figure: Content, column: Column) -> str:
    """Return a figure as text.

    >>> format_figure(Figure(0.4971, marked=True), Column("ndcg", "nDCG'"))
    '0.497*'
    >>> format_figure(Figure(0.494, 0.0021), Column("ndcg", "nDCG'"))
    '0.494 ± 0.002'
    >>> format_figure(Figure(0.02, interval=(-0.01, 0.05)), Column("d", "to †"))
    '0.020 [-0.010, 0.050]'
    """
    if not isinstance(figure, Figure):
        return figure or MISSING

    def show(value: float, signed: bool = False) -> str:
        return format_score(value * column.scale, column.decimals, signed)

    text = show(figure.value, column.signed) + column.unit
    if figure.std is not None and column.show_std:
        text += f" ± {show(figure.std)}"
    if figure.interval is not None:
        low, high = (show(end, column.signed) for end in figure.interval)
        text += f" [{low}, {high}]"
    return text + ("*" if figure.marked else "")


def _text_rows(table: Table) -> list[list[str]]:
    rows = []
    for labels, row in table.rows.items():
        first, *others = split_labels(labels)
        first += "†" if labels == table.baseline else ""
        cells = (format_figure(_read_cell(row, c), c) for c in table.columns)
        rows.append([first, *others, *cells])
    return rows


def _read_cell(row: Values, column: Column) -> Content:
    cell = row.get(column.key)
    return Figure(cell) if isinstance(cell, int | float) else cell


def _csv_value(cell: Content, column: Column, scale: float) -> str:
    if not isinstance(cell, Figure):
        return cell or ""
    if cell.interval is not None:
        return format_figure(cell, column)
    return repr(float(cell.value * scale))


def _full_title(column: Column, joint: str) -> str:
    return f"{column.group}{joint}{column.title}" if column.group else column.title


def _latex_groups(table: Table) -> list[str]:
    if not any(column.group for column in table.columns):
        return []
    cells = [""] * len(table.label_titles)
    rules = []
    place = len(cells) + 1
    for group, columns in groupby(table.columns, key=lambda c: c.group):
        width = len(list(columns))
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{_latex(group)}}}")
        rules.append(rf"\cmidrule(lr){{{place}-{place + width - 1}}}")
        place += width
    return [" & ".join(cells) + r" \\", "".join(rules)]


def _latex_line(cells: Sequence[str]) -> str:
    return " & ".join(map(_latex, cells)) + r" \\"


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#",
    "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "±": r"$\pm$", "†": r"$^{\dagger}$", "*": "$^{*}$",
    "–": "--", "•": r"$^{\bullet}$", "◦": r"$^{\circ}$", "β": r"$\beta$",
    "<": "$<$", ">": "$>$", "≥": r"$\geq$", "≤": r"$\leq$", "α": r"$\alpha$",
}  # fmt: skip


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
