"""Front matter of Markdown: what is between ``---`` lines before the text.

```
---
title: Twin primes
tags: [number theory, primes]
date: 2024-05-01
---
Is there ...
```
"""

from __future__ import annotations

import re
import tomllib
from typing import Any, NamedTuple

_BLOCK = re.compile(
    r"\A(?P<fence>---|\+\+\+)[ \t]*\n(?P<body>.*?)"
    r"^(?:(?P=fence)|\.\.\.)[ \t]*(?:\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_KEY = re.compile(r"\s*(?:#.*\n\s*)*[\w-]+\s*[:=]")
_TAGS = ("tags", "keywords", "categories")
_MAX_LENGTH = 65_536  # characters; what is longer is a text between two lines


class FrontMatter(NamedTuple):
    """Title, tags and date of a file."""

    length: int = 0
    """Characters before the text."""
    title: str = ""
    tags: tuple[str, ...] = ()
    date: str | None = None
    problem: str = ""
    """Why the front matter could not be read; it is no part of the text either."""

    @classmethod
    def read(cls, text: str) -> FrontMatter:
        r"""Read the front matter of a Markdown file, YAML or TOML; most have none.

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
