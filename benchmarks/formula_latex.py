r"""Measure the LaTeX reader: parity with the reference trees, and speed.

    python -m benchmarks.formula_latex                   parity and speed
    python -m benchmarks.formula_latex --mismatches 30   and what differs, by class
    python -m benchmarks.formula_latex --pool 3000       and a sample of real posts
    python -m benchmarks.formula_latex --fuzz 100000     and inputs made to break it

Parity compares bracket strings with those of ``formula/parity_public.jsonl.gz`` (rows
whose source is not ``crafted`` and whose reference has no error), as they are and after
NFKC of the labels. Speed counts formulas (both trees) per CPU second of one core.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from mathamr_kedro.formula import FormulaTree, opt_from_mathml, slt_from_mathml
from mathamr_kedro.formula.latex import trees_from_latex

Row = tuple[str, str | None, str | None]
"""LaTeX, and the bracket strings of both reference trees (None: no reference)."""

csv.field_size_limit(10**7)


def read_parity(shared: Path, field: str) -> list[Row]:
    """Return the rows of the parity file that count."""
    path = shared / "formula" / "parity_public.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        (row[field], row["slt"].get("string"), row["opt"].get("string"))
        for row in rows
        if not row["source"].startswith("crafted")
    ]


def read_pool(shared: Path, count: int, seed: int) -> list[Row]:
    """Return a random sample of visually distinct formulas of real posts."""
    pool = shared / "collection" / "arqmath_pool"
    found: dict[str, Row] = {}
    for part in sorted((pool / "latex_representation_v3").glob("*.tsv")):
        columns = [
            _read_column(pool / f"{kind}_representation_v3" / f"{part.name}{suffix}")
            for kind, suffix in (("latex", ""), ("slt", ".gz"), ("opt", ".gz"))
        ]
        for (visual, latex), (_, slt), (_, opt) in zip(*columns, strict=True):
            if latex and slt and opt and visual not in found:
                found[visual] = (latex, slt, opt)
    sample = random.Random(seed).sample(sorted(found.values()), min(count, len(found)))
    return [
        (latex, _convert(slt_from_mathml, slt), _convert(opt_from_mathml, opt))
        for latex, slt, opt in sample
    ]


def _read_column(path: Path) -> Iterator[tuple[str, str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines, delimiter="\t")
        next(rows)
        for row in rows:
            yield row[6], row[8]


def _convert(convert, markup: str) -> str | None:  # type: ignore[no-untyped-def]
    try:
        return convert(markup, mode="strict", compat="arqmath").to_string()
    except Exception:
        return None


def read_topics(shared: Path) -> list[str]:
    """Return the formulas of the official topics."""
    formulas = []
    for path in sorted((shared / "collection" / "topics").rglob("*ormula*atex*")):
        with path.open(encoding="utf-8", newline="") as lines:
            formulas += [row[-1] for row in csv.reader(lines, delimiter="\t")][1:]
    return formulas


def write(tree: FormulaTree | None) -> str:
    """Return the bracket string of a tree; nothing for none."""
    return "" if tree is None else tree.to_string()


def fold(text: str) -> str:
    """Return the string with compatible characters made equal."""
    return unicodedata.normalize("NFKC", text)


def compare(name: str, rows: list[Row], mismatches: int) -> None:
    """Print how many trees are equal to the reference."""
    counts: Counter[str] = Counter()
    wrong: dict[str, list[tuple[str, str, str]]] = {"slt": [], "opt": []}
    for latex, *expected in rows:
        trees = trees_from_latex(latex)
        for kind, tree, wanted in zip(
            ("slt", "opt"), (trees.slt, trees.opt), expected, strict=True
        ):
            if wanted is None:
                continue
            found = write(tree)
            counts[kind] += 1
            counts[f"{kind} exact"] += found == wanted
            counts[f"{kind} folded"] += fold(found) == fold(wanted)
            if found != wanted:
                wrong[kind].append((latex, found, wanted))
    print(f"{name:32} {'rows':>6} {'NFKC':>8} {'exact':>8}")
    for kind in ("slt", "opt"):
        total = counts[kind] or 1
        print(
            f"  {kind:30} {counts[kind]:6d} {counts[f'{kind} folded'] / total:8.2%}"
            f" {counts[f'{kind} exact'] / total:8.2%}"
        )
    if mismatches:
        for kind, rows_ in wrong.items():
            _print_mismatches(kind, rows_, mismatches)


def _print_mismatches(kind: str, rows: list[tuple[str, str, str]], count: int) -> None:
    classes: Counter[str] = Counter()
    examples: dict[str, list[tuple[str, str, str]]] = {}
    for row in rows:
        name = _classify(row[1], row[2])
        classes[name] += 1
        examples.setdefault(name, []).append(row)
    print(f"-- {kind}: {len(rows)} mismatches, by the labels where they part")
    shown = 0
    for name, size in classes.most_common():
        print(f"   {size:4d}  {name}")
        for latex, found, wanted in sorted(examples[name], key=lambda r: len(r[0]))[:3]:
            shown += 1
            print(f"         latex     {latex[:300]}")
            print(f"         found     {found[:400]}")
            print(f"         reference {wanted[:400]}")
        if shown >= count:
            break


def _classify(found: str, wanted: str) -> str:
    """Return the labels at which two bracket strings part."""
    one, other = found.split("["), wanted.split("[")
    for left, right in zip(one, other, strict=False):
        if left != right:
            return f"{left[:30]}  instead of  {right[:30]}"
    return f"length {len(one)} instead of {len(other)}"


def time_formulas(name: str, formulas: Iterable[str]) -> None:
    """Print the speed over formulas."""
    formulas = list(formulas)
    for formula in formulas[:200]:  # fill the tables
        trees_from_latex(formula)
    rates = []
    for _ in range(3):
        begin = time.process_time()
        for formula in formulas:
            trees_from_latex(formula)
        rates.append(len(formulas) / (time.process_time() - begin))
    print(
        f"{name:32} {len(formulas):6d} formulas {max(rates):8.0f} per CPU second"
        f" (best of 3; all: {', '.join(f'{rate:.0f}' for rate in rates)})"
    )


_PIECES = (
    *r"{ } ^ _ & \\ $ ( ) [ ] | < > = , . ; : ! ' ~ # % 1 2.5 x y d".split(),
    *r"\left \right".split(),
    *r"\frac \sqrt \sum \int \sin \log \lim \max \over \choose \limits \not".split(),
    *r"\text{ \mathrm{ \mathbf \hat \overset \operatorname \mathop \boxed".split(),
    *r"\left( \right) \left| \right| \left\{ \right. \langle \rangle \|".split(),
    *r"\begin{matrix} \end{matrix} \begin{cases} \end{cases} \begin{aligned}".split(),
    *r"\end{aligned} \begin{array}{cc} \end{array} \begin{gathered} \hline".split(),
    *r"\newcommand{\a}[1]{#1#1} \a \def\b{ \b \quad \, \dots \pmod \to \iff".split(),
    *("é", "\x00", "\ud800", "𝑥", "\xa0", r"\foo", r"\ ", "\\"),
)


def make_inputs(formulas: list[str], count: int, seed: int) -> Iterator[str]:
    """Yield formulas cut, doubled, shuffled and mixed, and plain noise."""
    rng = random.Random(seed)
    for _ in range(count):
        kind = rng.random()
        if kind < 0.6:
            yield _mutate(rng.choice(formulas), formulas, rng)
        elif kind < 0.9:
            yield " ".join(rng.choices(_PIECES, k=rng.randint(1, 40)))
        else:
            yield "".join(chr(rng.randrange(0x3000)) for _ in range(rng.randint(0, 40)))


def _mutate(formula: str, formulas: list[str], rng: random.Random) -> str:
    chars = list(formula)
    for _ in range(rng.randint(1, 8)):
        place = rng.randrange(len(chars) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            del chars[place : place + rng.randint(1, 5)]
        elif kind == 1:
            chars.insert(place, rng.choice(_PIECES))
        elif kind == 2:
            chars[place:place] = chars[place : place + rng.randint(1, 20)]
        else:
            other = rng.choice(formulas)
            start = rng.randrange(len(other) + 1)
            chars[place:place] = other[start : start + rng.randint(1, 30)]
    return "".join(chars)


def fuzz(formulas: list[str], count: int, seed: int) -> None:
    """Print how many inputs crash, fail inside or take long."""
    counts: Counter[str] = Counter()
    slowest = 0.0
    for text in make_inputs(formulas, count, seed):
        begin = time.process_time()
        try:
            trees = trees_from_latex(text)
            write(trees.slt), write(trees.opt)
        except Exception as error:
            counts["crashes"] += 1
            print(f"crash {type(error).__name__} on {text!r}")
            continue
        seconds = time.process_time() - begin
        slowest = max(slowest, seconds)
        counts["over 1 s"] += seconds > 1
        counts["internal errors"] += "internal_error" in trees.problems
        counts["without trees"] += trees.slt is None
    print(
        f"fuzz, seed {seed}: {count} inputs, {counts['crashes']} crashes,"
        f" {counts['internal errors']} internal errors, {counts['over 1 s']} over 1 s"
        f" (slowest {slowest:.3f} s), {counts['without trees']} without trees"
    )


def main() -> None:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--mismatches", type=int, default=0, metavar="N")
    parser.add_argument("--pool", type=int, default=0, metavar="N")
    parser.add_argument("--fuzz", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--no-speed", action="store_true")
    args = parser.parse_args()
    parity = read_parity(args.shared, "latex")
    compare("parity, latex as written", parity, args.mismatches)
    compare("parity, latex normalised", read_parity(args.shared, "latex_in"), 0)
    if args.pool:
        rows = read_pool(args.shared, args.pool, args.seed)
        compare(f"pool sample, seed {args.seed}", rows, args.mismatches)
    if args.fuzz:
        fuzz([row[0] for row in parity], args.fuzz, args.seed)
    if not args.no_speed:
        time_formulas("speed, parity formulas", (row[0] for row in parity))
        time_formulas("speed, topic formulas", read_topics(args.shared))


if __name__ == "__main__":
    main()
