"""Documents of own files in parts: front matter, headings, sections.

```
---
title: Twin primes          front matter of Markdown, YAML or TOML
tags: [number theory, primes]
---
# Topology            has no text: no section, but part of the titles below
## Compactness        Topology: Compactness
## References         a bibliography: no section
```
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

from mathamr_kedro.corpus.markup import find_markdown_blocks, flatten_markup
from mathamr_kedro.corpus.placeholders import FormulaMarks
from mathamr_kedro.corpus.raw import MAX_TEXT, Markup
from mathamr_kedro.corpus.scanning import find_blocks

_BLOCK = re.compile(
    r"\A(?P<fence>---|\+\+\+)[ \t]*\n(?P<body>.*?)"
    r"^(?:(?P=fence)|\.\.\.)[ \t]*(?:\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_KEY = re.compile(r"\s*(?:#.*\n\s*)*[\w-]+\s*[:=]")
_TAGS = ("tags", "keywords", "categories")
_MAX_LENGTH = 65_536  # characters; what is longer is a text between two lines
_BIBLIOGRAPHY = re.compile(r"[\W\d]*(references|bibliography|works cited)\W*", re.I)
_HTML_HEADING = re.compile(r"<h([1-3])[^<>]*>", re.I)
_END_OF_HTML_HEADING = re.compile(r"</h[1-3]\s*>", re.I)


class FrontMatter(NamedTuple):
    """Title, tags and date of a file."""

    length: int = 0
    """Characters before the text."""
    title: str = ""
    tags: tuple[str, ...] = ()
    date: str | None = None
    problem: str = ""
    """Why the front matter could not be read; it is not part of the text either."""

    @classmethod
    def read(cls, text: str) -> FrontMatter:
        r"""Read the front matter of a Markdown file (YAML or TOML), if it has one.

        >>> FrontMatter.read("---\ntitle: Primes\ntags: a, b\n---\nText.")
        FrontMatter(length=33, title='Primes', tags=('a', 'b'), date=None, problem='')
        >>> FrontMatter.read("---\nA line above.\n\n---\n")
        FrontMatter(length=0, title='', tags=(), date=None, problem='')
        """
        block = _BLOCK.match(text)
        if block is None or block.end() > _MAX_LENGTH or not _KEY.match(block["body"]):
            return FrontMatter()
        try:
            found = _parse(block["fence"], block["body"])
        except ValueError as exc:
            reason = " ".join(str(exc).split())
            return FrontMatter(block.end(), problem=f"expected YAML or TOML ({reason})")
        if not isinstance(found, dict):
            return FrontMatter()
        names = {str(key).lower(): value for key, value in found.items()}
        tags = [tag for key in _TAGS for tag in _list(names.get(key))]
        date = _text(names.get("date"))
        title = _text(names.get("title"))
        return FrontMatter(block.end(), title, tuple(dict.fromkeys(tags)), date or None)


def _parse(fence: str, body: str) -> Any:
    if fence == "+++":
        return tomllib.loads(body)
    import yaml  # noqa: PLC0415  # few collections have front matter

    try:
        return yaml.safe_load(body)
    except (yaml.YAMLError, RecursionError, OverflowError) as exc:
        raise ValueError(str(exc)) from exc


def _text(value: Any) -> str:
    """Return a plain value as text; lists and mappings are none."""
    if value is None or isinstance(value, (list, dict, set)):
        return ""
    return " ".join(str(value).split())


def _list(value: Any) -> list[str]:
    if isinstance(value, str):
        value = value.split(",")
    values = value if isinstance(value, list) else [value]
    return [text for text in map(_text, values) if text]


class Headings:
    """Titles of sections; a heading without a text is part of those below it.

    >>> headings = Headings()
    >>> headings.title(1, "Topology", has_text=False)
    >>> headings.title(2, "Compactness", has_text=True)
    'Topology: Compactness'
    >>> headings.title(1, "References", has_text=True)
    """

    def __init__(self) -> None:
        self._above: list[tuple[int, str]] = []

    def title(self, level: int, title: str, has_text: bool) -> str | None:
        """Return the title of the next section; ``None``: it is not a section."""
        self._above = [above for above in self._above if above[0] < level]
        titles = [*(above[1] for above in self._above), title]
        if not has_text and title:
            self._above.append((level, title))
        if not has_text or _BIBLIOGRAPHY.fullmatch(title):
            return None
        return ": ".join(filter(None, titles))


class Section(NamedTuple):
    """A part of a document under its heading."""

    line: int
    """Of the heading, from 0."""
    title: str
    body: str


def split_sections(text: str, markup: Markup) -> list[Section]:
    r"""Split at headings of the first three levels; those inside code do not count.

    Text before the first heading is a section without a title. A heading without text
    is not a section, but prefixes the titles of those below it.

    >>> text = "<h1>Rings</h1>\nA set.\n<h2>Ideals</h2>\nA part."
    >>> [(section.line, section.title) for section in split_sections(text, "html")]
    [(0, 'Rings'), (2, 'Ideals')]
    """
    found = [_Heading(0, 0, 0, ""), *_find_headings(text, markup)]
    headings = Headings()
    sections = []
    line = last = 0
    starts = [*(heading.start for heading in found[1:]), len(text)]
    for (start, end, level, name), next_start in zip(found, starts, strict=True):
        line, last = line + text.count("\n", last, start), start
        body = text[end:next_start]
        has_text = bool(flatten_markup(body[:MAX_TEXT], FormulaMarks(), markup))
        title = headings.title(level, name, has_text)
        if title is not None:
            sections.append(Section(line, title, body))
    return sections


class _Heading(NamedTuple):
    start: int
    end: int
    level: int
    title: str


def _find_headings(text: str, markup: Markup) -> Iterator[_Heading]:
    if markup == "html":
        ends = {"": _END_OF_HTML_HEADING}
        for opened, end in find_blocks(text, _HTML_HEADING, ends):
            title = text[opened.end() : end.start()]
            yield _Heading(opened.start(), end.end(), int(opened[1]), title)
    elif markup == "markdown":
        yield from (_Heading(*found) for found in find_markdown_blocks(text).headings)
