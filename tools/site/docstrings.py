"""Docstrings as Markdown: roles, literal blocks and examples of reStructuredText."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|mod|data|meth|attr|exc):`~?([^`]+)`")
_EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!\s*$).*\n?)*\n?)+", re.M)
_RULER = re.compile(r"^=[= ]+=$", re.M)


def write_markdown(text: str) -> str:
    """Return a docstring with its marks turned into those of Markdown."""
    text = _ROLE.sub(lambda found: f"`{found[1].rpartition('.')[2]}`", text)
    text = re.sub(r"^::$\n?", "", text, flags=re.M)
    text = re.sub(r"(?<=\S)::$", ":", text, flags=re.M)
    text = _fence_tables(text)
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)


def _fence_tables(text: str) -> str:
    """Show tables that are drawn with rulers as they are."""
    places = [found.span() for found in _RULER.finditer(text)]
    if len(places) < 2:
        return text
    start, end = places[0][0], places[-1][1]
    return f"{text[:start]}```text\n{text[start:end]}\n```{text[end:]}"


class MarkdownDocstrings(griffe.Extension):
    """Rewrites every docstring once, when it has been read."""

    def on_object(self, *, obj: Any, **kwargs: Any) -> None:
        """Take an object that was read from the source."""
        if obj.docstring is not None:
            obj.docstring.value = write_markdown(obj.docstring.value)
