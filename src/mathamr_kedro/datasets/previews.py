"""Tables, and HTML that Kedro-Viz shows as it was written.

Kedro-Viz takes the HTML of a preview for Markdown as well: unescaped, ``bm25_slt and
bm25_opt`` would lose its underscores, and wide pictures would be cut off.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from html import escape
from typing import Any

from kedro_datasets._typing import TablePreview

_GUARD = '<span class="line\u2028end"></span>'
"""Put behind a mark of Markdown. Kedro-Viz looks for the next one on the same line,
and to JavaScript a line ends at U+2028, wherever that is; in the middle of an
attribute, it is invisible and no cleaner of HTML trims it."""
_MARKS = re.compile(r"[_*]|\](?=\()")


def write_text(text: str) -> str:
    """Return a text as HTML, every character of it."""
    return _MARKS.sub(lambda mark: mark[0] + _GUARD, escape(text))


def embed_picture(content: bytes, kind: str, text: str) -> str:
    """Return a picture as HTML that needs no other file.

    Args:
        content: of the file.
        kind: e.g. ``image/png``.
        text: what to read if it cannot be seen.
    """
    # Pictures are dark on light: they bring their paper along.
    look = "max-width:100%;background:#fff;border-radius:6px"
    address = f"data:{kind};base64,{base64.b64encode(content).decode()}"
    words = escape(_MARKS.sub(" ", text))
    return f'<img src="{address}" alt="{words}" style="{look}">'


def list_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> TablePreview:
    """Return rows as the table that Kedro-Viz shows."""
    return TablePreview(
        {
            "index": list(range(len(rows))),
            "columns": list(columns),
            "data": [list(row) for row in rows],
        }
    )
