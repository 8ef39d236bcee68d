"""Make mutants and see whether the tests kill them: ``python -m tools.mutants``.

All tests run once, to note which of them call which functions (kept in build/reach;
delete it to note anew). A mutant is tried by those that call what was changed, and by
those that name it.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch

from tools.mutants.mutations import Mutant, find_mutants
from tools.mutants.reach import FOLDER, SOURCE, Reach, find_callers, read_reach

REACH = Path("build/reach")
_NEAREST = 4
"""Test files that are tried first: to import those of all callers takes minutes."""


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
    parser.add_argument("--seconds", type=int, default=1200, help="at most, a try")
    parser.add_argument("--skip", nargs="*", default=[], help="test files to leave out")
    options = parser.parse_args()
    if not REACH.exists():
        trace_tests(REACH, options.workers)
    reach = read_reach(REACH)
    packages = options.packages or list(find_packages())
    chosen = [m for p in packages for m in choose_mutants(p, options)]
    random.Random(options.seed).shuffle(chosen)  # what is done early is a fair sample
    outcomes: dict[str, Counter[str]] = {package: Counter() for package in packages}
    with ThreadPoolExecutor(options.workers) as pool:
        tries = [pool.submit(try_mutant, mutant, reach, options) for mutant in chosen]
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


def trace_tests(folder: Path, workers: int) -> None:
    """Run all tests and note what they call; one that fails leaves nothing."""
    print("all tests run once, to see what they call", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.mutants.reach"]
    command += ["-n", str(workers), "--dist", "loadfile"]
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    subprocess.run(command, env=os.environ | {FOLDER: str(part)}, check=True)
    part.rename(folder)


def find_packages() -> Iterator[str]:
    """Yield the packages and top-level modules."""
    for path in sorted(SOURCE.iterdir()):
        is_code = path.suffix == ".py" or (path / "__init__.py").exists()
        if is_code and not path.name.startswith("_"):
            yield path.stem


def find_tests(package: str) -> list[Path]:
    """Return the files that test a package by their place."""
    folder, file = Path("tests") / package, Path("tests") / f"test_{package}.py"
    return [*sorted(folder.rglob("test_*.py")), *([file] if file.exists() else [])]


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


def order_tests(mutant: Mutant, reach: Reach) -> list[Path]:
    """Return the tests that may kill a mutant, those nearest to the change first.

    Near is a file of the module's own name, then others of its package, by how often
    they name what the module defines: a mutant dies within seconds there, or seldom
    at all. Tests of other packages come last.
    """
    module = mutant.path.stem
    defined = _names_of(mutant.path)
    dotted = ".".join(mutant.path.relative_to(SOURCE.parent).with_suffix("").parts)
    own = find_tests(package_of(mutant))
    callers = set(find_callers(reach, mutant.path, mutant.line))
    distances = {}
    for test in _list_tests():
        # A bare name of a module, such as "files", stands in texts of all kinds.
        named = _count_names((module if test in own else dotted, *defined), test)
        is_other = test.stem != f"test_{module}"
        if named or test in callers or not is_other:
            distances[test] = (test not in own, is_other, -named)
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


def try_mutant(mutant: Mutant, reach: Reach, options: argparse.Namespace) -> Result:
    """Run the tests on a copy of the source with one change, until one fails."""
    tests = order_tests(mutant, reach)
    tests = [test for test in tests if str(test) not in options.skip]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source = Path(folder) / "src"
        shutil.copytree(SOURCE.parent, source)
        place = source / mutant.path.relative_to(SOURCE.parent)
        place.write_text(mutant.source, encoding="utf-8")
        # Examples in docstrings are tests as well, and the nearest.
        outcome = run_tests([place, *tests[:_NEAREST]], source, options.seconds)
        if outcome == "survived" and tests[_NEAREST:]:
            outcome = run_tests(tests[_NEAREST:], source, options.seconds)
        return Result(mutant, outcome)


def run_tests(tests: list[Path], source: Path, seconds: int) -> str:
    """Return the outcome; a test that never ends has failed."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "no:randomly", f"--timeout={min(120, seconds // 2)}"]
    # The copy stands elsewhere, and its settings are these.
    command += ["-c", "pyproject.toml", "--rootdir", "."]
    environment = os.environ | {"PYTHONPATH": f"{source}:{os.getenv('PYTHONPATH', '')}"}
    running = subprocess.Popen(
        [*command, *map(str, tests)],
        env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        code = running.wait(seconds)
    except subprocess.TimeoutExpired:
        return "undecided"  # a test that never ends was stopped before
    finally:
        # Workers of a changed program may never end, and slow all others down.
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    # 5: no test was found, which tells nothing.
    return "survived" if code in (0, 5) else "killed"


if __name__ == "__main__":
    raise SystemExit(main())
