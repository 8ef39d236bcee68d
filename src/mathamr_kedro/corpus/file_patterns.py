"""Files of a collection, named by patterns below its root or anywhere."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mathamr_kedro.errors import MissingInputError


def find_files(root: Path, patterns: Iterable[str], part: str) -> list[Path]:
    """Return the files of one part of a collection, in order.

    Args:
        root: folder of the collection.
        patterns: relative to the root or absolute; they may hold ``*``. An empty one
            means that the collection has no such part.
        part: its name in the catalog.

    Raises:
        MissingInputError: nothing is there; names the part, the place and the remedy.
    """
    found: list[Path] = []
    for pattern in patterns:
        if not pattern:
            continue
        base, wanted = root, Path(pattern).expanduser()
        if wanted.is_absolute():  # topics and qrels may lie elsewhere
            base, wanted = Path(wanted.anchor), wanted.relative_to(wanted.anchor)
        files = sorted(base.glob(str(wanted)))
        if not files:
            raise MissingInputError(
                f"Expected {part} at {str(root / pattern)!r}; put the file "
                f"there or change '{part}' of the dataset 'collection' in "
                "conf/<env>/catalog.yml (an empty value leaves it out)"
            )
        found += files
    return found
