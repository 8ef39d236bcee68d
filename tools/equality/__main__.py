"""Compare scores and answers of two checkouts: ``python -m tools.equality OLD NEW``.

All stages of each environment run in both, with data roots outside of them, which are
reused when the same version is compared again. Their run files and scores are compared,
and what ``mathamr search`` answers to typed queries: byte for byte, else ranking and
scores to 1e-6. Systems of papers are trained shortly, with a small text model of
random weights. ``pool``, ``formula_pool`` and ``stacks`` need the data that
``docs/data.md`` tells of, in ``MATHAMR_COLLECTION`` and ``MATHAMR_STATEMENTS``.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.equality.checkouts import Checkout, FailedRunError
from tools.equality.comparison import Comparison, compare_answers, compare_roots
from tools.equality.queries import choose_queries

ENVIRONMENTS = (
    "demo", "pool", "formula_pool", "stacks", "demo+formula_rgcn", "demo+ssemb",
    "demo+marf", "demo+mathamr",
)  # fmt: skip
_ROW = "{:20} {:12} {:>9} {:>9} {:>9} {:>9}"
_HEAD = ("environment", "what", "compared", "identical", "to 1e-6", "different")
_NOTES = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if something differs or could not be compared."""
    options = _read_options(arguments)
    old = Checkout.open(options.old, options.data)
    new = Checkout.open(options.new, options.data)
    names = dict(name.split("=", 1) for name in options.names)
    print(_ROW.format(*_HEAD))
    has_changed = False
    for env in options.envs:
        try:
            old.run(env)
            new.run(env)
            queries = choose_queries(old.root(env), options.queries)
            found = {
                "files": compare_roots(old.root(env), new.root(env), names),
                "answers": compare_answers(
                    queries, old.ask(env, queries), new.ask(env, queries)
                ),
            }
        except FailedRunError as problem:
            print(f"{env:20} {problem}", flush=True)
            has_changed = True
            continue
        for what, comparison in found.items():
            _show(env, what, comparison)
            has_changed |= bool(comparison.outcomes["different"])
    return int(has_changed)


def _read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.equality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("old", type=Path, help="a checkout of the version before")
    parser.add_argument("new", type=Path, help="a checkout of the version after")
    parser.add_argument("--envs", nargs="+", default=ENVIRONMENTS)
    parser.add_argument("--queries", type=int, default=50, help="typed queries to ask")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(tempfile.gettempdir()) / "equality",
        help="folder for the data roots, VERSION/ENVIRONMENT (default: %(default)s)",
    )
    parser.add_argument(
        "--names", nargs="*", default=[], metavar="OLD=NEW", help="renamed systems"
    )
    return parser.parse_args(arguments)


def _show(env: str, what: str, comparison: Comparison) -> None:
    counts = comparison.outcomes
    print(
        _ROW.format(
            env, what, counts.total(), counts["identical"], counts["equal"],
            counts["different"],
        ),
        flush=True,
    )  # fmt: skip
    for note in comparison.notes[:_NOTES]:
        print(f"    {note}")
    if more := len(comparison.notes[_NOTES:]):
        print(f"    and {more} more")


if __name__ == "__main__":
    raise SystemExit(main())
