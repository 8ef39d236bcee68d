"""Numbers of names (labels, edges, tokens), counted over a collection."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.files import write_text


class Vocabulary:
    """Numbers of names; 0 is for unknown ones.

    Args:
        names: in the order of their numbers, special ones first.
        generalise: maps a name without a number to a special name.

    >>> vocabulary = Vocabulary(["?", "V!?", "V!x"], lambda name: name[:2] + "?")
    >>> [vocabulary.find(name) for name in ("V!x", "V!y", "N!7")]
    [2, 1, 0]
    """

    def __init__(
        self, names: Iterable[str], generalise: Callable[[str], str] = lambda name: ""
    ) -> None:
        self.names = tuple(names)
        self._generalise = generalise
        self._numbers = {name: number for number, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def find(self, name: str) -> int:
        """Return the number of a name, or of the special name that replaces it."""
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers.get(self._generalise(name), 0)
        return number

    def save(self, path: Path) -> None:
        """Write the names in order, as JSON."""
        # Escaped: lone surrogates of a formula cannot be written as UTF-8.
        write_text(path, json.dumps(self.names, indent=0))

    @classmethod
    def load(cls, path: Path, generalise: Callable[[str], str] | None = None) -> Self:
        """Read what :meth:`save` wrote.

        Raises:
            MissingInputError: there is no such file.
            MalformedInputError: it holds something else.
        """
        if not path.is_file():
            raise MissingInputError(
                f"Expected {path.name} in {str(path.parent)!r}; run the stages "
                "'preprocessing' and 'training'"
            )
        try:
            names = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as exc:
            raise MalformedInputError(
                f"Expected a list of names in {str(path)!r} ({exc}); delete its folder "
                "and run the stages 'preprocessing' and 'training'"
            ) from exc
        return cls(names) if generalise is None else cls(names, generalise)


def choose_frequent(counts: Mapping[str, int], min_count: int = 1) -> Sequence[str]:
    """Return names that occur often enough, the most frequent first.

    >>> choose_frequent({"x": 3, "z": 1, "y": 3}, min_count=2)
    ['x', 'y']
    """
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    return [name for name in ordered if counts[name] >= min_count]
