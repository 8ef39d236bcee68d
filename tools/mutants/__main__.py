"""Make mutants and see whether the tests kill them: ``python -m tools.mutants``.

All tests run once, to note which of them run which lines (kept in build/reach; delete
it to note anew). A mutant is tried by those that run what was changed or, where none
does, by those that name it.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

import torch

from tools.mutants.mutations import Mutant, find_mutants
from tools.mutants.reach import Reach, is_own
from tools.mutants.warm import WarmPython

SOURCE = Path("src/mathamr_kedro")
REACH = Path("build/reach")
_SHORT = 60.0  # seconds of tests that run before the rest
_FAR = 2.0  # seconds
_UNKNOWN, _NONE = 4, 5  # exit codes of pytest: a test of a name, or any


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
        print("all tests run once, to see which lines they run", flush=True)
        Reach.trace(REACH, options.workers)
    reach = Reach.read(REACH)
    packages = options.packages or list(find_packages())
    chosen = [m for p in packages for m in choose_mutants(p, options)]
    random.Random(options.seed).shuffle(chosen)  # what is done early is a fair sample
    outcomes: dict[str, Counter[str]] = {package: Counter() for package in packages}
    with ThreadPoolExecutor(options.workers) as pool, ExitStack() as stack:
        idle: SimpleQueue[WarmPython] = SimpleQueue()
        for _ in range(options.workers):
            idle.put(stack.enter_context(WarmPython()))
        tries = [
            pool.submit(try_mutant, mutant, reach, options, idle) for mutant in chosen
        ]
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


def order_tests(mutant: Mutant, reach: Reach) -> dict[str, float]:
    """Return the tests that may kill a mutant, the soonest first, and their seconds.

    A test of the module's own file kills most often, one of another package seldom: it
    waits as though it took longer. Where no test runs the line, files that name what
    the module defines may do so in a process of their own.
    """
    own = find_tests(package_of(mutant))
    seconds = reach.find_tests(mutant.path, mutant.line) or {
        str(test): 0.0 for test in _list_tests() if _is_named(mutant, test, own)
    }

    def cost(test: str) -> float:
        is_other = not is_own(test, mutant.path.stem)
        is_far = Path(test.partition("::")[0]) not in own
        return seconds[test] + _FAR * is_far + _FAR * is_other

    # Examples of other modules would run with those modules as they stand here.
    found = sorted((test for test in seconds if test.startswith("tests/")), key=cost)
    return {test: seconds[test] for test in found}


def split_rounds(seconds: Mapping[str, float], module: str) -> list[list[str]]:
    """Split tests into those of the module's own file, short ones, and the rest.

    Together, those that share what takes long to make would run first.
    """
    rounds: list[list[str]] = [[], [], []]
    total = 0.0
    for test, time in seconds.items():
        is_near = is_own(test, module)
        total += 0.0 if is_near else time
        rounds[0 if is_near else 1 if total < _SHORT else 2].append(test)
    return rounds


def _is_named(mutant: Mutant, test: Path, own: list[Path]) -> bool:
    module = mutant.path.stem
    dotted = ".".join(mutant.path.relative_to(SOURCE.parent).with_suffix("").parts)
    # A bare name of a module, such as "files", stands in texts of all kinds.
    names = (module if test in own else dotted, *_names_of(mutant.path))
    any_name = "|".join(map(re.escape, names))
    return re.search(rf"\b(?:{any_name})\b", _text_of(test)) is not None


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


def try_mutant(
    mutant: Mutant,
    reach: Reach,
    options: argparse.Namespace,
    idle: SimpleQueue[WarmPython],
) -> Result:
    """Run the tests on a copy of the source with one change, until one fails."""
    first, *others = split_rounds({
        test: seconds for test, seconds in order_tests(mutant, reach).items()
        if test.partition("::")[0] not in options.skip
    }, mutant.path.stem)  # fmt: skip
    python = idle.get()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source = Path(folder) / "src"
        shutil.copytree(SOURCE.parent, source)
        place = source / mutant.path.relative_to(SOURCE.parent)
        place.write_text(mutant.source, encoding="utf-8")
        # Examples in docstrings are tests as well, and the nearest.
        outcome = run_tests([str(place), *first], source, options.seconds, python)
        for tests in filter(None, others):
            if outcome == "survived":
                outcome = run_tests(tests, source, options.seconds, python)
    idle.put(python)
    return Result(mutant, outcome)


def run_tests(tests: list[str], source: Path, seconds: int, python: WarmPython) -> str:
    """Return the outcome; a test that never ends has failed."""
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    arguments += [f"--timeout={min(120, seconds // 2)}", "-m", "not shared"]
    # The copy stands elsewhere, and its settings are these.
    arguments += ["-c", "pyproject.toml", "--rootdir", "."]
    # Libraries that bring plugins are there before pytest.
    arguments += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    code = python.run([*arguments, *tests], source, seconds)
    if code is None:
        return "undecided"  # a test that never ends was stopped before
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    if code == _UNKNOWN and files != tests:  # a test is named after what was changed
        return run_tests(files, source, seconds, python)
    # Of a module without examples no test is found, which tells nothing.
    return "survived" if code in (0, _NONE) else "killed"


if __name__ == "__main__":
    raise SystemExit(main())
