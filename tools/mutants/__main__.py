"""Make mutants and see whether the tests kill them: ``python -m tools.mutants``."""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch

from tools.mutants.mutations import Mutant, find_mutants

SOURCE = Path("src/mathamr_kedro")

# Where a package is tested beside the folder of its own name, in the order to try.
FURTHER_TESTS = {
    "arrays": ("tests/test_arrays.py", "tests/graph"),
    "corpus": ("tests/pipelines/ingestion", "tests/trec"),
    "datasets": ("tests/pipelines",),
    "experiments": ("tests/cli/test_experiments.py",),
    "files": ("tests/test_files.py", "tests/datasets", "tests/test_shards.py"),
    "graph": (
        "tests/cli/test_graphs.py",
        "tests/pipelines/graph_fusion",
        "tests/pipelines/preprocessing",
    ),
    "learning": ("tests/model", "tests/pipelines/training"),
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
    outcome: str
    """``killed``; ``survived``: all tests passed; ``undecided``: time ran out."""


def main() -> int:
    """Run the command; the exit code says whether at least 95 % were killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", help="default: all with tests")
    parser.add_argument("--number", type=int, default=20, help="mutants a package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=1200, help="at most, a mutant")
    parser.add_argument("--skip", nargs="*", default=[], help="test files to leave out")
    options = parser.parse_args()
    packages = options.packages or list(find_packages())
    chosen = [m for p in packages for m in choose_mutants(p, options)]
    random.Random(options.seed).shuffle(chosen)  # what is done early is a fair sample
    outcomes: dict[str, Counter[str]] = {package: Counter() for package in packages}
    with ThreadPoolExecutor(options.workers) as pool:
        tries = [pool.submit(try_mutant, mutant, options) for mutant in chosen]
        for done in as_completed(tries):
            mutant, outcome = done.result()
            place = mutant.path.relative_to(SOURCE)
            outcomes[package_of(mutant)][outcome] += 1
            change = f"{mutant.before!r} -> {mutant.after!r}"
            print(f"{outcome} {place}:{mutant.line}: {change}", flush=True)
    for package, found in outcomes.items():
        print(f"{package}: {_describe(found)}")
    total = sum(outcomes.values(), Counter())
    print(f"all: {_describe(total)}")
    return int(total["killed"] < 0.95 * total.total())


def _describe(outcomes: Counter[str]) -> str:
    killed, decided = outcomes["killed"], outcomes["killed"] + outcomes["survived"]
    text = f"{killed} of {decided} killed ({killed / max(1, decided):.1%})"
    return text + f", {outcomes['undecided']} undecided" * (outcomes["undecided"] > 0)


def find_packages() -> Iterator[str]:
    """Yield the packages and top-level modules that have tests of their own."""
    for path in sorted(SOURCE.iterdir()):
        name = path.stem
        if find_tests(name) and not name.startswith("_"):
            yield name


def find_tests(package: str) -> list[Path]:
    """Return the files that test a package, those of its own name first."""
    own = [Path("tests") / package, Path("tests") / f"test_{package}.py"]
    further = [Path(p) for p in FURTHER_TESTS.get(package, ())]
    places = [place for place in dict.fromkeys((*own, *further)) if place.exists()]
    files = (sorted(p.rglob("test_*.py")) if p.is_dir() else [p] for p in places)
    return list(dict.fromkeys(file for group in files for file in group))


def package_of(mutant: Mutant) -> str:
    """Return the package, or top-level module, of a mutant."""
    return Path(mutant.path.relative_to(SOURCE).parts[0]).stem


def choose_mutants(package: str, options: argparse.Namespace) -> list[Mutant]:
    """Draw a sample of the mutants of a package."""
    folder = SOURCE / package
    files = (
        sorted(folder.rglob("*.py")) if folder.is_dir() else [SOURCE / f"{package}.py"]
    )
    if not torch.cuda.is_available():  # their tests need a GPU
        files = [file for file in files if not file.stem.startswith("triton")]
    mutants = [m for file in files for m in find_mutants(file)]
    rng = random.Random(f"{options.seed} {package}")
    return rng.sample(mutants, min(options.number, len(mutants)))


def order_tests(mutant: Mutant) -> list[Path]:
    """Return the tests of a mutant's package, those nearest to the change first.

    Near is a file of the module's own name, then one that names what the module
    defines: a mutant dies within seconds there, or seldom at all. Tests of other
    packages that name it come last.
    """
    module = mutant.path.stem
    defined = _names_of(mutant.path)
    dotted = ".".join(mutant.path.relative_to(SOURCE.parent).with_suffix("").parts)
    own = find_tests(package_of(mutant))
    distances = {}
    for test in (*own, *_list_tests()):
        # A bare name of a module, such as "files", stands in texts of all kinds.
        named = _count_names((module if test in own else dotted, *defined), test)
        if test in own or named:
            distances[test] = (test not in own, test.stem != f"test_{module}", -named)
    return sorted(distances, key=distances.__getitem__)


def _count_names(names: Iterable[str], test: Path) -> int:
    any_name = "|".join(map(re.escape, names))
    return len(re.findall(rf"\b(?:{any_name})\b", _text_of(test)))


@cache
def _list_tests() -> tuple[Path, ...]:
    return tuple(sorted(Path("tests").rglob("test_*.py")))


@cache
def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def _names_of(path: Path) -> tuple[str, ...]:
    defined = ast.FunctionDef | ast.ClassDef
    nodes = ast.parse(_text_of(path)).body
    names = {node.name for node in nodes if isinstance(node, defined)}
    return tuple(sorted(n for n in names if not n.startswith("_")))


def try_mutant(mutant: Mutant, options: argparse.Namespace) -> Result:
    """Run the tests on a copy of the source with one change, until one fails."""
    tests = [test for test in order_tests(mutant) if str(test) not in options.skip]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(SOURCE.parent, source)
        place = source / mutant.path.relative_to(SOURCE.parent)
        place.write_text(mutant.source, encoding="utf-8")
        # Examples in docstrings are tests as well, and the nearest.
        return Result(mutant, run_tests([place, *tests], source, options.seconds))


def run_tests(tests: list[Path], source: Path, seconds: int) -> str:
    """Return the outcome; a test that never ends has failed."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "no:randomly", f"--timeout={min(120, seconds // 2)}"]
    # The copy stands elsewhere, and its settings are these.
    command += ["-c", "pyproject.toml", "--rootdir", "."]
    environment = os.environ | {"PYTHONPATH": f"{source}:{os.getenv('PYTHONPATH', '')}"}
    try:
        done = subprocess.run(
            [*command, *map(str, tests)],
            env=environment, capture_output=True, timeout=seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "undecided"  # a test that never ends was stopped before
    # 5: no test was found, which tells nothing.
    return "survived" if done.returncode in (0, 5) else "killed"


if __name__ == "__main__":
    raise SystemExit(main())
