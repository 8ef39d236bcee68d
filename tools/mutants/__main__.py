"""Make mutants and see whether the tests kill them: ``python -m tools.mutants``."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tools.mutants.mutations import Mutant, find_mutants

SOURCE = Path("src/mathamr_kedro")

# Where a package is tested beside the folder of its own name, in the order to try.
FURTHER_TESTS = {
    "arrays": ("tests/test_arrays.py", "tests/graph"),
    "corpus": ("tests/pipelines/ingestion", "tests/trec"),
    "datasets": ("tests/pipelines",),
    "experiments": ("tests/cli/test_experiments.py",),
    "files": ("tests/test_files.py", "tests/datasets", "tests/test_shards.py"),
    "graph": ("tests/pipelines/graph_fusion", "tests/pipelines/preprocessing"),
    "learning": ("tests/model",),
    "model": ("tests/learning",),
    "runs": ("tests/pipelines/evaluation",),
    "search": ("tests/pipelines/indexing", "tests/runs"),
    "stats": ("tests/experiments",),
    "text": ("tests/runs",),
    "trec": ("tests/corpus", "tests/metrics"),
    "workers": ("tests/pipelines/amr_parsing",),
}


class Result(NamedTuple):
    """What became of a mutant."""

    mutant: Mutant
    is_killed: bool
    seconds: float


def main() -> int:
    """Run the command; the exit code says whether at least 95 % were killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", help="default: all with tests")
    parser.add_argument("--number", type=int, default=20, help="mutants a package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--skip", nargs="*", default=[], help="tests to leave out")
    options = parser.parse_args()
    packages = options.packages or list(find_packages())
    killed = total = 0
    for package in packages:
        results = list(try_package(package, options))
        survivors = [r for r in results if not r.is_killed]
        killed += len(results) - len(survivors)
        total += len(results)
        print(f"{package}: {len(results) - len(survivors)} of {len(results)} killed")
        for mutant, _, _ in survivors:
            place = f"{mutant.path.relative_to(SOURCE)}:{mutant.line}"
            print(f"  survived {place}: {mutant.before!r} -> {mutant.after!r}")
        sys.stdout.flush()
    print(f"{killed} of {total} mutants killed ({killed / max(1, total):.1%})")
    return int(killed < 0.95 * total)


def find_packages() -> Iterator[str]:
    """Yield the packages and top-level modules that have tests of their own."""
    for path in sorted(SOURCE.iterdir()):
        name = path.stem
        if find_tests(name) and not name.startswith("_"):
            yield name


def find_tests(package: str) -> list[str]:
    """Return the files and folders that test a package, its own first."""
    own = [Path("tests") / package, Path("tests") / f"test_{package}.py"]
    further = [Path(p) for p in FURTHER_TESTS.get(package, ())]
    return [str(p) for p in dict.fromkeys((*own, *further)) if p.exists()]


def try_package(package: str, options: argparse.Namespace) -> Iterator[Result]:
    """Try a sample of the mutants of a package, several at a time."""
    folder = SOURCE / package
    files = (
        sorted(folder.rglob("*.py")) if folder.is_dir() else [SOURCE / f"{package}.py"]
    )
    mutants = [m for file in files for m in find_mutants(file)]
    chosen = random.Random(f"{options.seed} {package}").sample(
        mutants, min(options.number, len(mutants))
    )
    tests = find_tests(package)
    with ThreadPoolExecutor(options.workers) as pool:
        yield from pool.map(lambda m: try_mutant(m, tests, options.skip), chosen)


def try_mutant(mutant: Mutant, tests: list[str], skipped: list[str]) -> Result:
    """Run the tests on a copy of the source with one change, until one fails."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(SOURCE.parent, source)
        place = source / mutant.path.relative_to(SOURCE.parent)
        place.write_text(mutant.source, encoding="utf-8")
        is_killed = any(fails(test, source, skipped) for test in tests)
    return Result(mutant, is_killed, time.perf_counter() - started)


def fails(test: str, source: Path, skipped: list[str]) -> bool:
    """Tell whether the tests of a file or folder fail, or never end."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "no:randomly", "--timeout=120", *skipped, test]
    environment = os.environ | {"PYTHONPATH": f"{source}:{os.getenv('PYTHONPATH', '')}"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, timeout=1200, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    # 5: no test was found, which tells nothing.
    return done.returncode not in (0, 5)


if __name__ == "__main__":
    raise SystemExit(main())
