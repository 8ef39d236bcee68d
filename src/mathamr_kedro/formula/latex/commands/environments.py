r"""Environments: matrices, cases, arrays, aligned and gathered formulas.

```
\begin{pmatrix} a & b \\ c & d \end{pmatrix}     an Array between parentheses
\begin{cases} a & x > 0 \\ b \end{cases}         values and conditions in one list
\begin{aligned} a &= b \\ &= c \end{aligned}     a table whose cells are half formulas
```
"""

from __future__ import annotations

import re
from functools import partial

from mathamr_kedro.formula.latex.boxes import Box, Group, pour
from mathamr_kedro.formula.latex.commands import diagrams
from mathamr_kedro.formula.latex.nodes import (
    CASES,
    App,
    Array,
    Dual,
    Hint,
    Item,
    Row,
    Text,
    Undefined,
)
from mathamr_kedro.formula.latex.reader import DISPLAY, SCRIPT, TEXT, Handler, Reader
from mathamr_kedro.formula.latex.symbols import SYMBOLS, Symbol
from mathamr_kedro.formula.latex.tokens import END

_CELL_ENDS = frozenset({"&", r"\\", r"\cr", r"\end", "}", END})
_RULES = frozenset({r"\hline", r"\toprule", r"\midrule", r"\bottomrule"})
_MATRIX = Symbol("UNKNOWN", "", "matrix")
_DETERMINANT = Symbol("UNKNOWN", "", "determinant")
_NORM = Symbol("UNKNOWN", "", "norm")
_LIST = Symbol("UNKNOWN", "", "list")

_BARS = (Symbol("OPEN", "|"), Symbol("CLOSE", "|"))
_DOUBLE_BARS = (Symbol("OPEN", "∥"), Symbol("CLOSE", "∥"))

Cells = list[list[list[Box]]]


def _read_environment(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\begin{...} ... \end{...}``."""
    name = reader.take_raw_argument().strip()
    build = _ENVIRONMENTS.get(name.removesuffix("*"))
    if build is None:
        reader.note("unknown_environment", name)
        boxes.append(Undefined(name, reader.is_total))
        _read_transparent(reader, boxes)
    else:
        build(reader, boxes)


def _read_stray_end(reader: Reader, boxes: list[Box]) -> None:
    r"""Read an ``\end{...}`` that ends nothing."""
    reader.note("stray_end", reader.take_raw_argument())


def _read_transparent(reader: Reader, boxes: list[Box]) -> None:
    """Read an environment whose content stands for itself."""
    inner = reader.read_scope(_TRANSPARENT_ENDS)
    if inner:
        boxes.append(Group(inner, braced=False))
    _take_end(reader)


_TRANSPARENT_ENDS = frozenset({r"\end", "}", END})


def _take_end(reader: Reader) -> None:
    if reader.skip_if(r"\end"):
        reader.take_raw_argument()
    else:
        reader.note("missing_end")


def _read_cells(reader: Reader, style: int, columns: int = 1) -> Cells:
    """Return the boxes of all cells, rows at the end dropped if they are empty."""
    rows: Cells = []
    row: list[list[Box]] = []
    while True:
        while not row and reader.peek() in _RULES:
            reader.i += 1
            rows.append([[] for _ in range(columns)])
        row.append(reader.read_scope(_CELL_ENDS, style=style))
        token = reader.peek()
        if token == "&":
            reader.i += 1
            continue
        rows.append(row)
        row = []
        if token not in (r"\\", r"\cr"):
            break
        reader.i += 1
        if reader.peek() == "*":
            reader.i += 1
        reader.take_raw_option()
    while rows and all(box.is_empty for cell in rows[-1] for box in cell):
        rows.pop()
    return rows


def _make_array(
    reader: Reader, cells: Cells, columns: int = 0, role: str | None = None
) -> Array:
    rows = [
        [reader.make_item(cell, punctuated=True) if cell else None for cell in row]
        + [None] * max(0, columns - len(row))
        for row in cells
    ]
    return Array(rows, role)


def _make_fences(opening: str, closing: str) -> tuple[Symbol, Symbol]:
    return SYMBOLS[opening].with_role("OPEN"), SYMBOLS[closing].with_role("CLOSE")


def _matrix(
    reader: Reader,
    boxes: list[Box],
    fences: tuple[Symbol, Symbol] | None = None,
    op: Symbol | None = None,
) -> None:
    reader.take_raw_option()
    array = _make_array(reader, _read_cells(reader, TEXT))
    _take_end(reader)
    content: Item = App(_MATRIX, [array])
    if op is not None:
        content = App(op, [content])
    row: list[Item] = [array] if fences is None else [fences[0], array, fences[1]]
    boxes.append(Dual(content, Row(row)))


def _array(reader: Reader, boxes: list[Box]) -> None:
    reader.take_raw_option()
    columns = _count_columns(reader.take_raw_argument())
    cells = _read_cells(reader, TEXT, columns)
    _take_end(reader)
    boxes.append(_make_array(reader, cells, columns, "ARRAY"))


def _count_columns(template: str) -> int:
    """Return how many columns a template announces.

    >>> _count_columns("l|c@{x}r"), _count_columns("*{3}{c}p{2cm}")
    (3, 4)
    """
    for times, inner in _REPEATS.findall(template):
        count = min(int(times), _MAX_COLUMNS)
        template = template.replace(f"*{{{times}}}{{{inner}}}", inner * count, 1)
    return min(len(_COLUMNS.findall(_ARGUMENTS.sub("", template))), _MAX_COLUMNS)


_MAX_COLUMNS = 100
_REPEATS = re.compile(r"\*\{(\d{1,4})\}\{([^{}]*)\}")
_ARGUMENTS = re.compile(r"\{[^{}]*\}")
_COLUMNS = re.compile(r"[lcrpmbX]")


def _braced(reader: Reader, boxes: list[Box], build: Handler) -> None:
    r"""Read plain TeX, ``\matrix{a & b \cr c & d}``."""
    inner = reader.take_tokens()[1:-1]
    saved = reader.tokens, reader.i
    reader.tokens, reader.i = [*inner, r"\end", "{", "}", END], 0
    build(reader, boxes)
    reader.tokens, reader.i = saved


def _table(
    reader: Reader,
    boxes: list[Box],
    style: int,
    columns: int = 0,
    has_argument: bool = False,
    has_option: bool = False,
    is_list: bool = False,
) -> None:
    r"""Read a table without fences, e.g. ``aligned``, ``\eqalign``, ``subarray``."""
    if has_argument:
        reader.take_raw_argument()
    if has_option:
        reader.take_raw_option()
    array = _make_array(reader, _read_cells(reader, style), columns)
    _take_end(reader)
    boxes.append(Dual(App(_LIST, [array]), array) if is_list else array)


def _gathered(reader: Reader, boxes: list[Box]) -> None:
    """Read lines that are one formula: the table is drawn, the whole is read."""
    reader.take_raw_option()
    cells = _read_cells(reader, DISPLAY)
    _take_end(reader)
    array = _make_array(reader, cells)
    items: list[Box] = []
    for row in cells:
        for cell in row:
            _append_cell(items, pour(cell))
    whole = reader.make_item(items, punctuated=True) if items else SYMBOLS["."]
    boxes.append(Dual(whole, array))


def _append_cell(items: list[Box], cell: list[Item]) -> None:
    """Append a line; an operator repeated at the break counts once."""
    if cell and cell[0].__class__ is Hint:
        cell = cell[1:]
    if cell and cell[-1].__class__ is Hint:
        cell = cell[:-1]
    if items and cell and items[-1] is cell[0] and cell[0].role in _REPEATED:
        items.pop()
    items += cell


_REPEATED = frozenset({"ADDOP", "MULOP", "RELOP"})


def _cases(reader: Reader, boxes: list[Box]) -> None:
    cells = _read_cells(reader, TEXT)
    _take_end(reader)
    array = _make_array(reader, cells, 2)
    otherwise = Text(["otherwise"], reader.is_total)
    content = App(
        CASES,
        [otherwise if cell is None else cell for row in array.rows for cell in row],
    )
    boxes.append(Dual(content, Row([SYMBOLS[r"\{"].with_role("OPEN"), array])))


def _read_substack(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\substack{i \\ j}``."""
    if not reader.skip_if("{"):
        boxes += reader.read_argument()
        return
    array = _make_array(reader, _read_cells(reader, SCRIPT))
    if not reader.skip_if("}"):
        reader.note("missing_brace")
    boxes.append(Dual(App(_LIST, [array]), array))


_ENVIRONMENTS: dict[str, Handler] = {
    "matrix": _matrix,
    "pmatrix": partial(_matrix, fences=_make_fences("(", ")")),
    "bmatrix": partial(_matrix, fences=_make_fences("[", "]")),
    "Bmatrix": partial(_matrix, fences=_make_fences(r"\{", r"\}")),
    "vmatrix": partial(_matrix, fences=_BARS, op=_DETERMINANT),
    "Vmatrix": partial(_matrix, fences=_DOUBLE_BARS, op=_NORM),
    "smallmatrix": partial(_table, style=SCRIPT),
    "array": _array,
    "cases": _cases,
    "subarray": partial(_table, style=SCRIPT, has_argument=True, is_list=True),
    **dict.fromkeys(
        ("aligned", "align", "eqnarray", "flalign", "split", "IEEEeqnarray"),
        partial(_table, style=DISPLAY, has_option=True),
    ),
    **dict.fromkeys(
        ("alignat", "alignedat", "xalignat"),
        partial(_table, style=DISPLAY, has_argument=True, has_option=True),
    ),
    **dict.fromkeys(("gathered", "gather", "multline"), _gathered),
    **dict.fromkeys(("equation", "displaymath", "math"), _read_transparent),
    **diagrams.ENVIRONMENTS,
}

HANDLERS: dict[str, Handler] = {
    r"\begin": _read_environment,
    r"\end": _read_stray_end,
    r"\substack": _read_substack,
    r"\cases": partial(_braced, build=_cases),
    r"\matrix": partial(_braced, build=_ENVIRONMENTS["matrix"]),
    r"\pmatrix": partial(_braced, build=_ENVIRONMENTS["pmatrix"]),
    **dict.fromkeys(
        (r"\eqalign", r"\eqalignno", r"\leqalignno"),
        partial(_braced, build=partial(_table, style=DISPLAY, columns=2)),
    ),
}
