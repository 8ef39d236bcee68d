"""Pages as GitHub shows them, adapted to the site: links, blank lines before lists."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_LIST = re.compile(r"(?:[-*+]|1\.) ")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


def adapt(text: str, source: Path, page: str, homes: Mapping[Path, str]) -> str:
    """Return a page with links that hold within the site.

    Links to files that are no page become the name of the file; those that lead
    nowhere stay, so that the build fails.

    Args:
        text: Markdown.
        source: the file that it is in; its links are relative to it.
        page: where it is in the site, relative to docs/.
        homes: pages of files outside of docs/.
    """
    docs = _find_docs(source)

    def relink(found: re.Match[str]) -> str:
        mark, words, target = found.groups()
        path, _, anchor = target.partition("#")
        if not path or re.match(r"\w+:", target):
            return found[0]
        full = Path(os.path.normpath(source.parent / path))
        if full in homes:
            goal = homes[full]
        elif full.is_relative_to(docs):
            goal = str(full.relative_to(docs))
        else:
            return words if full.exists() and not mark else found[0]
        near = os.path.relpath(goal, os.path.dirname(page) or ".")
        return f"{mark}[{words}]({near}{'#' + anchor if anchor else ''})"

    lines = _space_lists(text.splitlines())
    return "\n".join(
        line if fenced else _LINK.sub(relink, line) for line, fenced in lines
    )


def _find_docs(source: Path) -> Path:
    """Return docs/ of the repository that a file belongs to."""
    for folder in source.parents:
        if (folder / "mkdocs.yml").is_file():
            return folder / "docs"
    return source.parent


def _space_lists(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Yield lines and whether they are code; Python-Markdown wants lists set apart."""
    fence, before = "", ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
            yield line, True
        elif fence:
            if line.strip() == fence:
                fence = ""
            yield line, True
        else:
            begins = _LIST.match(line) or (line.startswith("|") and before[:1] != "|")
            inside = before[:1] in (" ", "") or re.match(r"(?:[-*+]|\d+\.) ", before)
            if begins and before.strip() and not inside:
                yield "", False
            yield line, False
        before = line
