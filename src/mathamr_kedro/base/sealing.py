"""Folders whose files are sealed: what is missing or was changed is found on use.

::

    model/
      weights.pt
      model.json
      seals.json     {"weights.pt": [[size, digest]], "model.json": [[size, digest]]}

A file that is replaced alone (:func:`replace_sealed`) has two seals for a moment, the
old and the new one: whenever its writer is killed, the file fits one of them. Folders
of earlier versions have no seals; they are read as they are.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from mathamr_kedro.base.checksums import FileSeal
from mathamr_kedro.base.errors import DamagedFileError
from mathamr_kedro.base.files import replace_file, write_text

SEALS = "seals.json"

_Seals: TypeAlias = Mapping[str, list[FileSeal]]
_verified: dict[tuple[str, int, int, int], FileSeal] = {}
"""What this process has read whole: path, size, time and inode, and its seal."""


def check_once(seal: FileSeal, path: Path, remedy: str) -> None:
    """Check every byte of a file, the first time that this process asks.

    Raises:
        DamagedFileError: it is missing, cut short or changed.
    """
    seal.check_size(path, remedy)
    stat = path.stat()
    key = (str(path), stat.st_size, stat.st_mtime_ns, stat.st_ino)
    if _verified.get(key) != seal:
        seal.check(path, remedy)
        _verified[key] = seal


@contextmanager
def replace_sealed(path: Path) -> Iterator[Path]:
    """Give a path to write to; what was written takes the place of ``path``, sealed."""
    with replace_file(path) as part:
        yield part
        new = FileSeal.of(part)
        seals = _read(path.parent)
        old = seals.get(path.name) or ([FileSeal.of(path)] if path.is_file() else [])
        _write(path.parent, {**seals, path.name: [new, *old]})
    _write(path.parent, {**_read(path.parent), path.name: [new]})


def seal_folder(folder: Path, skip: Collection[str] = ()) -> None:
    """Seal the files of a folder, those of folders inside aside."""
    names = sorted(f.name for f in folder.iterdir() if f.is_file())
    left_out = {SEALS, *skip}
    seals = {n: [FileSeal.of(folder / n)] for n in names if n not in left_out}
    _write(folder, seals)


def check_sealed(path: Path, remedy: str) -> None:
    """Check every byte of a sealed file, once in a process.

    Args:
        path: the file; one without a seal, of an earlier version, passes.
        remedy: what to do where it is damaged; ends the message.

    Raises:
        DamagedFileError: it fits none of its seals.
    """
    _check(path, _read(path.parent).get(path.name, []), remedy, whole=True)


def check_folder(folder: Path, remedy: str, whole: bool) -> None:
    """Check all sealed files of a folder.

    Args:
        folder: one without seals, of an earlier version, passes.
        remedy: what to do where a file is damaged; ends the message.
        whole: check every byte, once in a process; else the sizes alone.

    Raises:
        DamagedFileError: a file fits none of its seals.
    """
    for name, seals in _read(folder).items():
        _check(folder / name, seals, remedy, whole)


def list_damage(folder: Path, remedy: str) -> list[str]:
    """Return what is wrong with the sealed files of a folder, a line for each."""
    found = []
    try:
        for name, seals in _read(folder).items():
            try:
                _check(folder / name, seals, remedy, whole=True)
            except DamagedFileError as exc:
                found.append(str(exc))
    except DamagedFileError as exc:
        found.append(str(exc))
    return found


def _check(path: Path, seals: list[FileSeal], remedy: str, whole: bool) -> None:
    for place, seal in enumerate(seals, start=1):
        try:
            (check_once if whole else FileSeal.check_size)(seal, path, remedy)
            return
        except DamagedFileError:
            if place == len(seals):
                raise


def _read(folder: Path) -> _Seals:
    path = folder / SEALS
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {
            name: [FileSeal(int(size), str(digest)) for size, digest in seals]
            for name, seals in found.items()
        }
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError) as exc:
        raise DamagedFileError(
            f"Expected sizes and digests of files in {str(path)!r} ({exc}): it was "
            "damaged; delete it if you trust the files beside it, or write them again"
        ) from exc


def _write(folder: Path, seals: _Seals) -> None:
    rows = (
        f" {json.dumps(name)}: {json.dumps([[s.size, s.digest] for s in found])}"
        for name, found in seals.items()
    )
    write_text(folder / SEALS, "{\n" + ",\n".join(rows) + "\n}\n")
