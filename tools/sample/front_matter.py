"""YAML front matter of a Markdown file, and errors that name file and line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from mathamr_kedro.base.errors import MalformedInputError, suggest

_FENCE = "---"


def malformed(path: Path, line: int, expected: str, got: object) -> MalformedInputError:
    """Return the error for a place in a file that is not in the expected form."""
    return MalformedInputError(f"Expected {expected} (got {got!r}) at {path}:{line}")


class FrontMatter:
    """The fields at the head of a file, each read with the type it must have.

    ``end`` is the number of the line that closes the front matter.
    """

    def __init__(self, path: Path, lines: Sequence[str], fields: Sequence[str]) -> None:
        """Read the front matter of ``path``, whose ``lines`` begin with ``---``.

        Raises:
            MalformedInputError: there is none, it is not YAML, or it has a field that
                is not among ``fields``.
        """
        self._path, self._lines = path, lines
        if lines[:1] != [_FENCE] or _FENCE not in lines[1:]:
            expected = f"front matter between two lines {_FENCE!r}"
            raise malformed(path, 1, expected, lines[0] if lines else "")
        self.end = lines.index(_FENCE, 1) + 1
        self._fields = self._load()
        for name in self._fields:
            if name not in fields:
                near = suggest(str(name), fields)
                expected = f"one of the fields {list(fields)}{near}"
                raise malformed(path, self._line_of(name), expected, name)

    def integer(self, name: str) -> int:
        """Return a whole number."""
        value = self._fields.get(name)
        if not isinstance(value, int):
            raise self._wrong(name, "a whole number")
        return value

    def string(self, name: str) -> str:
        """Return a string."""
        value = self._fields.get(name)
        if not isinstance(value, str):
            raise self._wrong(name, "a string")
        return value

    def optional_string(self, name: str) -> str | None:
        """Return a string, or None where the field is missing."""
        return self.string(name) if name in self._fields else None

    def strings(self, name: str) -> tuple[str, ...]:
        """Return a list of strings; it is empty where the field is missing."""
        value = self._fields.get(name, [])
        if not isinstance(value, list) or not _all_of(str, value):
            raise self._wrong(name, "a list of strings")
        return tuple(value)

    def grades(self, name: str) -> Mapping[str, int]:
        """Return a mapping of strings to whole numbers."""
        value = self._fields.get(name)
        if not isinstance(value, dict) or not (
            _all_of(str, list(value)) and _all_of(int, list(value.values()))
        ):
            raise self._wrong(name, "a mapping of strings to whole numbers")
        return value

    def optional_strings(self, name: str) -> Mapping[str, str]:
        """Return a mapping of strings; it is empty where the field is missing."""
        value = self._fields.get(name, {})
        if not isinstance(value, dict) or not _all_of(str, [*value, *value.values()]):
            raise self._wrong(name, "a mapping of strings to strings")
        return value

    def _load(self) -> Mapping[str, Any]:
        try:
            fields = yaml.safe_load("\n".join(self._lines[1 : self.end - 1]))
        except yaml.MarkedYAMLError as exc:
            mark = exc.problem_mark
            # Both the mark and the fence above it count from zero.
            line = 2 + (mark.line if mark is not None else 0)
            raise malformed(self._path, line, "YAML", exc.problem) from exc
        if not isinstance(fields, dict):
            raise malformed(self._path, 1, "a mapping as front matter", fields)
        return fields

    def _wrong(self, name: str, expected: str) -> MalformedInputError:
        got = self._fields.get(name)
        return malformed(self._path, self._line_of(name), f"{name}: {expected}", got)

    def _line_of(self, name: str) -> int:
        """Return the line of a field, or the first one where it is missing."""
        for number, line in enumerate(self._lines[: self.end], start=1):
            if line.startswith(f"{name}:"):
                return number
        return 1


def _all_of(kind: type, values: Sequence[object]) -> bool:
    return all(isinstance(value, kind) for value in values)
