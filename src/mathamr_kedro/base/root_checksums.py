"""Checksums of the files of a data root that no list beside them has.

::

    data/
      checksums.json     {"08_reporting/evaluation.md": [size, hash], ...}
      02_intermediate/   shards: their lists have their checksums, the lists are here
      ...

A writer takes the list away when it begins and writes it when it ends, so a killed one
leaves none instead of a wrong one. Files that it did not write keep their checksums:
what was damaged before is still named after it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from mathamr_kedro.base.checksums import CHECKSUMS, FileChecksum, checksum
from mathamr_kedro.base.errors import DamagedFileError
from mathamr_kedro.base.files import write_text

NAME = "checksums.json"
_LAYERS = "0[2-8]_*"
"""Folders of a data root; others may be roots of their own."""
_PASSED = ("last_run.json", "edge.json")
"""Written without the lock of the root; the latter has a checksum in it."""
_PASSED_FOLDERS = ("build-", "view-")
"""Of indexes: listed in ``edge.json``."""


class RootChecksums:
    """The list, from the begin of a writer to its end.

    Args:
        root: the data root.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._states = {name: _look_at(path) for name, path in _list_files(root)}
        try:
            self._known = _read(root)
        except DamagedFileError:
            self._known = {}
        (root / NAME).unlink(missing_ok=True)

    def write(self) -> None:
        """Write the list with what has changed since."""
        found = {
            name: self._known[name]
            if name in self._known and self._states.get(name) == _look_at(path)
            else FileChecksum.of(path)
            for name, path in _list_files(self._root)
        }
        files = {name: [known.size, known.digest] for name, known in found.items()}
        if files:
            content = {"files": files, "checksum": checksum(files)}
            write_text(self._root / NAME, json.dumps(content, indent=1))


def list_root_damage(root: Path, remedy: str) -> Iterator[str]:
    """Yield what is wrong with the files of the list, a line for each.

    Args:
        root: the data root.
        remedy: what to do; ends each line.
    """
    try:
        known = _read(root)
    except DamagedFileError as exc:
        yield f"{exc}; delete it, then {remedy}"
        return
    for name, expected in known.items():
        try:
            expected.check(root / name, remedy)
        except DamagedFileError as exc:
            yield str(exc)


def _read(root: Path) -> dict[str, FileChecksum]:
    path = root / NAME
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["checksum"] != checksum(found["files"]):
            raise ValueError("its bytes were changed")
        return {name: FileChecksum(*known) for name, known in found["files"].items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise DamagedFileError(
            f"Expected checksums of files in {str(path)!r} ({exc})"
        ) from exc


def _look_at(path: Path) -> tuple[int, int, int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def _list_files(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files that no list of their folder has, by their names."""
    folders = [
        folder
        for layer in sorted(root.glob(_LAYERS))
        for folder in (layer, *sorted(layer.rglob("*")))
        if folder.is_dir()
        and not any(p.startswith(_PASSED_FOLDERS) for p in folder.parts)
    ]
    for folder in folders:
        listed = _list_covered(folder)
        for path in sorted(folder.iterdir()):
            is_passing = path.name in _PASSED or path.suffix in (".lock", ".part")
            if path.is_file() and not is_passing and path.name != ".lock":
                if not path.name.endswith(listed):
                    yield path.relative_to(root).as_posix(), path


def _list_covered(folder: Path) -> tuple[str, ...]:
    """Return names, or how they end, of files whose checksums are in the folder."""
    covered: list[str] = []
    for name in (CHECKSUMS, "_shards.json"):
        try:
            found = json.loads((folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if name == CHECKSUMS:
            covered += found
        else:
            covered.append(found.get("suffix") or name)
    return tuple(covered)
