"""Print how exact, how complete and how fast formula trees are.

Examples:
    python -m benchmarks.formula_trees parity      # specification, parity, topics
    python -m benchmarks.formula_trees speed       # trees per CPU second
    python -m benchmarks.formula_trees store       # fill a store from the pool
    python -m benchmarks.formula_trees latexml     # LaTeXML: parity and throughput
    python -m benchmarks.formula_trees latex       # the LaTeX reader
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mathamr_kedro.base.records import Formula
from mathamr_kedro.formula import (
    FormulaTree,
    TreeError,
    opt_from_mathml,
    slt_from_mathml,
)

READERS: dict[str, Callable[..., FormulaTree | None]] = {
    "slt": slt_from_mathml,
    "opt": opt_from_mathml,
}
CELLS = {"slt": "pmml", "opt": "cmml"}
TOPIC_FILES = {
    (2020, "slt"): "topics/ARQMath-1/Formula_topics_slt_V2.0.tsv",
    (2020, "opt"): "topics/ARQMath-1/Formula_topics_opt_V2.0.tsv",
    (2021, "slt"): "topics/ARQMath-2/Topics_2021_Formulas_SLT_V1.1.tsv",
    (2021, "opt"): "topics/ARQMath-2/Topics_2021_Formulas_OPT_V1.1.tsv",
}


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON lines file, packed or not."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def read_tsv(path: Path) -> Iterator[list[str]]:
    """Yield the rows of a TSV file of ARQMath without its header."""
    csv.field_size_limit(10**9)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.reader(lines, delimiter="\t"):
            if row[0] != "id":
                yield row


def read_topics(shared: Path, year: int, kind: str) -> list[str]:
    """Return the cells of one official topic file that are not empty."""
    path = shared / "collection" / TOPIC_FILES[year, kind]
    return [row[4] for row in read_tsv(path) if row[4].strip()]


def convert_strictly(
    kind: str, text: str
) -> tuple[FormulaTree | None, TreeError | None]:
    """Return the tree, or the error that stands for it."""
    try:
        return READERS[kind](text, mode="strict"), None
    except TreeError as error:
        return None, error


def agrees(tree: FormulaTree | None, error: TreeError | None, row: Any) -> bool:
    """Tell whether a result is what the reference has: string, tuples, error class."""
    if tree is None or error is not None:
        wanted = row.get("error") or ""
        return row.get("string") is None and (
            error is not None and wanted.partition(":")[0] == error.reference_class
        )
    tuples = [list(pair) for pair in tree.tuples(window=1)]
    return tree.to_string() == row["string"] and tuples == row["tuples"]


def print_row(name: str, value: str, wanted: str) -> None:
    """Print one line of the table."""
    print(f"{name:<58} {value:>18}   {wanted}")


def measure_parity(shared: Path) -> None:
    """Print agreement with the specification, the reference and the topics."""
    cases = list(read_jsonl(shared / "formula" / "spec_cases.jsonl"))
    right = sum(
        agrees(*convert_strictly(case["kind"], case["input"]), case) for case in cases
    )
    print_row(
        "spec_cases, strict (tree, tuples, error class)",
        f"{right} of {len(cases)}",
        "239 of 239",
    )
    rows = list(read_jsonl(shared / "formula" / "parity_public.jsonl.gz"))
    for kind, cell in CELLS.items():
        present = [row for row in rows if row.get(cell)]
        right = sum(
            agrees(*convert_strictly(kind, row[cell]), row[kind]) for row in present
        )
        print_row(
            f"parity_public, {cell} to {kind.upper()}, strict",
            f"{right} of {len(present)} = {right / len(present):.2%}",
            ">= 99.8 %",
        )
    for year, kind in TOPIC_FILES:
        texts = read_topics(shared, year, kind)
        reasons: Counter[str] = Counter()
        made = [READERS[kind](text, counter=reasons) for text in texts]
        right = sum(tree is not None for tree in made)
        print_row(
            f"topic formulas {year}, {kind.upper()}, total",
            f"{right} of {len(texts)}",
            "100 %",
        )
        if reasons:
            print("   deviations:", dict(reasons.most_common(6)))


def measure_speed(shared: Path) -> None:
    """Print trees per CPU second on the topic cells, best of five rounds."""
    for kind, cell in CELLS.items():
        texts = read_topics(shared, 2020, kind) + read_topics(shared, 2021, kind)
        for name, write in (("tree", False), ("tree and string", True)):
            best = min(_time_round(kind, texts, write) for _ in range(5))
            print_row(
                f"{cell} to {kind.upper()}: {name}, per CPU second",
                f"{len(texts) / best:,.0f}",
                ">= 12,000",
            )


def _time_round(kind: str, texts: list[str], write: bool) -> float:
    read = READERS[kind]
    start = time.process_time()
    for text in texts:
        tree = read(text)
        if write and tree is not None:
            tree.to_string()
    return time.process_time() - start


def measure_store(shared: Path) -> None:
    """Fill a store with the whole pool; print its speed, size and sources."""
    from mathamr_kedro.formula import TreeStore
    from tests.formula.batches import build_batch

    pool = shared / "collection" / "arqmath_pool"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trees.sqlite"
        with TreeStore(path) as store:
            seconds, count = 0.0, 0
            for number in range(1, 6):
                formulas = _read_pool(pool, number)
                start = time.process_time()
                batch = build_batch(formulas, store.missing_visuals)
                store.add_batch(f"{number}.tsv", batch)
                seconds += time.process_time() - start
                count += len(formulas)
            visuals = len(store)
            print_row("formulas stored, per CPU second", f"{count / seconds:,.0f}", "")
            print_row("formulas / visually distinct", f"{count:,} / {visuals:,}", "")
            sources = {"+".join(key): n for key, n in store.count_sources().items()}
            print("   sources:", sources)
            ids = [formula.visual_id for formula in formulas]
            start = time.process_time()
            for visual_id in ids:
                store.trees(visual_id)
            seconds = time.process_time() - start
            print_row("look-ups per CPU second", f"{len(ids) / seconds:,.0f}", "")
        print_row("bytes per formula", f"{path.stat().st_size / count:.0f}", "")


def _read_pool(pool: Path, number: int) -> list[Formula]:
    families = (
        read_tsv(pool / "latex_representation_v3" / f"{number}.tsv"),
        read_tsv(pool / "slt_representation_v3" / f"{number}.tsv.gz"),
        read_tsv(pool / "opt_representation_v3" / f"{number}.tsv.gz"),
    )
    return [
        Formula(
            *latex[:2], latex[6], latex[3], latex[4], latex[7], latex[8], slt[8], opt[8]
        )
        for latex, slt, opt in zip(*families, strict=True)
    ]


def measure_latexml(shared: Path, count: int) -> None:
    """Convert formulas by LaTeXML; print agreement and throughput."""
    from tools.sample.mathml import make_cells

    rows = [
        row
        for row in read_jsonl(shared / "formula" / "parity_public.jsonl.gz")
        if row.get("pmml") and row.get("cmml")
    ][:count]
    before = _child_seconds()
    start = time.perf_counter()
    found = make_cells([row["latex"] for row in rows], known={})
    wall, cpu = time.perf_counter() - start, _child_seconds() - before
    for kind, cell in CELLS.items():
        read = READERS[kind]
        right = sum(
            read(getattr(found[row["latex"]], kind)) == read(row[cell]) for row in rows
        )
        print_row(f"LaTeXML, latex to {kind.upper()}", f"{right} of {len(rows)}", "all")
    print_row("LaTeXML, formulas per CPU second", f"{len(rows) / cpu:.1f}", "")
    print_row("LaTeXML, formulas per second (wall)", f"{len(rows) / wall:.1f}", "")


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_latex(arguments: list[str]) -> None:
    """Hand over to the benchmark of the LaTeX reader, beside this file."""
    from benchmarks import formula_latex

    sys.argv = ["formula_latex.py", *arguments]
    formula_latex.main()


def main() -> None:
    """Read the command line and print the table asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", choices=("parity", "speed", "store", "latexml", "latex"), nargs="?"
    )
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--count", type=int, default=100, help="formulas for LaTeXML")
    options, others = parser.parse_known_args()
    if options.what == "latex":
        measure_latex(["--shared", str(options.shared), *others])
        return
    if others:
        parser.error(f"unknown arguments: {others}")
    print(f"{'what':<58} {'measured':>18}   wanted", file=sys.stdout)
    if options.what in ("parity", None):
        measure_parity(options.shared)
    if options.what in ("speed", None):
        measure_speed(options.shared)
    if options.what == "store":
        measure_store(options.shared)
    if options.what == "latexml":
        measure_latexml(options.shared, options.count)


if __name__ == "__main__":
    main()
