"""Tables, and HTML that Kedro-Viz shows as it was written.

Kedro-Viz takes the HTML of a preview for Markdown as well. Left alone, ``bm25_slt and
bm25_opt`` would lose its underscores, line ends within a table would become empty lines
above it, lists would be put inside of another one, and wide pictures would be cut off.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from kedro_datasets._typing import TablePreview
from markdown_it import MarkdownIt

_GUARD = '<span class="line\u2028end"></span>'
"""Stands behind a mark of Markdown. Kedro-Viz looks for the next one on the same line,
and to JavaScript a line ends at U+2028, wherever that is; in the middle of an
attribute, nobody sees it and no cleaner of HTML trims it."""
_MARKS = re.compile(r"[_*]|\](?=\()")
_ADDRESSES = re.compile(r'(?<=href=")[^"]*|(?<=src=")[^"]*')
_PREFORMATTED = re.compile(r"<pre>.*?</pre>", re.DOTALL)


def render_markdown(
    markdown: str, read_picture: Callable[[str], bytes | None] | None = None
) -> str:
    """Return a page as HTML that needs no other file.

    Reports quote names of files and records: no HTML of theirs is taken over.

    Args:
        markdown: the page.
        read_picture: returns the content of a PNG by its name, or ``None``.
    """
    page = MarkdownIt("commonmark", {"html": False}).enable("table")
    page.add_render_rule("text", _render_text)
    page.add_render_rule("code_inline", _render_code)
    page.add_render_rule("image", _render_image)
    html: str = page.render(markdown, {"read": read_picture or (lambda name: None)})
    html = _PREFORMATTED.sub(lambda m: m[0].replace("\n", "<br>"), html)
    html = _ADDRESSES.sub(lambda m: m[0].replace("_", "%5F"), html)
    return html.replace("\n", " ").replace("<li>", '<li class="item">')


def write_text(text: str) -> str:
    """Return a text as HTML, every character of it."""
    return _MARKS.sub(lambda mark: mark[0] + _GUARD, escape(text))


def embed_picture(content: bytes, kind: str, text: str) -> str:
    """Return a picture as HTML that needs no other file.

    Args:
        content: of the file.
        kind: e.g. ``image/png``.
        text: what to read where it cannot be seen.
    """
    address = f"data:{kind};base64,{base64.b64encode(content).decode()}"
    return _write_picture(address, text)


def list_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> TablePreview:
    """Return rows as the table that Kedro-Viz shows."""
    return TablePreview(
        {
            "index": list(range(len(rows))),
            "columns": list(columns),
            "data": [list(row) for row in rows],
        }
    )


def _write_picture(address: str, text: str) -> str:
    # Pictures are dark on light: they bring their paper along.
    words = escape(_MARKS.sub(" ", text))
    look = "max-width:100%;background:#fff;border-radius:6px"
    return f'<img src="{address}" alt="{words}" style="{look}">'


def _render_text(self: Any, tokens: Sequence[Any], place: int, *rest: Any) -> str:
    return write_text(tokens[place].content)


def _render_code(self: Any, tokens: Sequence[Any], place: int, *rest: Any) -> str:
    return f"<code>{write_text(tokens[place].content)}</code>"


def _render_image(
    self: Any, tokens: Sequence[Any], place: int, options: Any, env: Any
) -> str:
    name, text = tokens[place].attrs["src"], tokens[place].content
    content = env["read"](name)
    if content is None:
        return _write_picture(escape(name), text)
    return embed_picture(content, "image/png", text)
