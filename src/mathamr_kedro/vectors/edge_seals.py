"""The files of an index of the engine ``edge``, and how they were when it was whole.

::

    posts/segments/179940be/vector_storage-all/vectors/chunk_0.mmap    size, checksum
    posts/segments/179940be/segment.json                               it exists

The engine writes some of its files anew whenever it opens them, so that only their
being there is noted. Vectors, payloads, ids and graphs lie in the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from mathamr_kedro.base.checksums import FileChecksum
from mathamr_kedro.base.errors import DamagedFileError

Seals: TypeAlias = Mapping[str, Mapping[str, Any] | None]
"""Path below a build to its checksum; ``None`` for one that only has to be there."""

_REMEDY = (
    "run `kedro run --pipelines indexing` with the --env of your run: it builds the "
    "index again from the vectors"
)
_PASSING = ("tracker_journal.dat", "wal/tmp-*")
"""Files that come and go: a journal, and logs that the engine still prepares."""
_REWRITTEN = ("*.json", "*.versions", "wal/*")


def seal_build(folder: Path) -> Seals:
    """Read all files of a build and seal them."""
    found = (f for f in folder.rglob("*") if not any(map(f.match, _PASSING)))
    files = sorted(file for file in found if file.is_file())
    return {
        file.relative_to(folder).as_posix(): None
        if any(map(file.match, _REWRITTEN))
        else asdict(FileChecksum.of(file))
        for file in files
    }


def find_damage(folder: Path, seals: Seals, whole: bool) -> Iterator[DamagedFileError]:
    """Yield what is wrong with each file of a build.

    Args:
        folder: of the build.
        seals: checksums of its files.
        whole: read the files; otherwise their sizes alone are looked at.
    """
    for name, found in seals.items():
        path = folder / name
        try:
            if found is None:
                if not path.is_file() or not path.stat().st_size:
                    raise DamagedFileError(
                        f"Expected a file at {str(path)!r} (got none); {_REMEDY}"
                    )
                continue
            seal = FileChecksum(**found)
            (seal.check if whole else seal.check_size)(path, _REMEDY)
        except DamagedFileError as error:
            yield error
