"""Compare what pip installed with the hashes of the lock files.

torch is installed before all others and by its version: with hashes, pip would choose
the build of PyPI and its gigabytes of CUDA on every machine. ``pip install --report``
notes the hash of each file that it installed; each has to be in a lock. Only a build of
torch from an index that the machine names itself (``2.13.0+cpu``) is in none: it, and
what only it needs, are printed with their hashes.

Run by a Python outside of the environment, in which nothing was checked yet::

    python3.11 -S -m tools.lock_check requirements*.lock -- .venv/*.report.json
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

_ENTRY = re.compile(r"^([\w.-]+)==[^#\n]*(?:\n +--hash=[^\n]*)*", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def read_locks(files: Iterable[Path]) -> dict[str, set[str]]:
    """Return the hashes of each package."""
    hashes: dict[str, set[str]] = {}
    for file in files:
        for entry in _ENTRY.finditer(file.read_text(encoding="utf-8")):
            hashes.setdefault(_unify(entry[1]), set()).update(_HASH.findall(entry[0]))
    return hashes


def find_unlocked(
    report: Mapping[str, Any], hashes: Mapping[str, set[str]]
) -> Iterator[tuple[str, bool]]:
    """Yield what was installed without a hash of the lock, and whether it may be."""
    installed = {_unify(i["metadata"]["name"]): i for i in report["install"]}
    torch = installed.get("torch", {"metadata": {"version": ""}})
    own_build = "+" in torch["metadata"]["version"]
    for name, item in installed.items():
        about = item["download_info"]
        found = about.get("archive_info", {}).get("hashes", {}).get("sha256")
        if found not in hashes.get(name, ()):
            version = item["metadata"]["version"]
            line = f"{name} {version} from {about['url']} (sha256 {found})"
            yield line, own_build and (name == "torch" or name not in hashes)


def _unify(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: list[str]) -> int:
    """Print what is in no lock; return 1 if it must be."""
    between = arguments.index("--")
    locks, reports = arguments[:between], arguments[between + 1 :]
    hashes, refused = read_locks(map(Path, locks)), False
    for report in reports:
        text = Path(report).read_text(encoding="utf-8")
        for line, may_be in find_unlocked(json.loads(text), hashes):
            refused |= not may_be
            print(f"{'build of this machine' if may_be else 'NOT LOCKED'}: {line}")
    if refused:
        print(
            f"Expected the hash of every installed file in {' or '.join(locks)}; "
            "delete the environment, look where these packages come from (pip config "
            "list), and rewrite the lock files if they are right (CONTRIBUTING.md)"
        )
    return int(refused)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
