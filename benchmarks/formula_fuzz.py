"""Throw damaged MathML and LaTeX at the readers; print crashes and the slowest case.

Total mode must answer every text with a tree or a counted reason, strict mode with a
tree or a TreeError, and each tree must survive its own bracket string. Nothing may take
longer than a second of CPU time.

Example:
    python -m benchmarks.formula_fuzz --cases 20000 --seed 1
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from mathamr_kedro import formula as formulas
from mathamr_kedro.formula import (
    FormulaTree,
    TreeError,
    opt_from_mathml,
    slt_from_mathml,
)
from mathamr_kedro.formula.mathml.markup import MATHML_TAGS

LIMIT = 1.0
SEEDS = {
    "mathml": [
        "<math><mrow><mo>(</mo><mi>x</mi><mo>,</mo><mn>2</mn><mo>)</mo></mrow></math>",
        "<math><msubsup><mo>∑</mo><mi>i</mi><mi>n</mi></msubsup></math>",
        "<math><mtable><mtr><mtd><mi>a</mi></mtd></mtr></mtable></math>",
        "<math><mmultiscripts><mi>T</mi><mi>a</mi><none/><mprescripts/><mi>b</mi>"
        "<none/></mmultiscripts></math>",
        "<math><apply><plus/><ci>a</ci><cn>1</cn></apply></math>",
        "<math><apply><and/><apply><lt/><ci>a</ci><ci>b</ci></apply><apply><lt/><share "
        'href="#.cmml"/><ci>c</ci></apply></apply></math>',
        '<math><cerror><csymbol cd="unknown">R</csymbol></cerror></math>',
    ],
    "latex": [
        r"\frac{a}{b}",
        r"\sum_{i=1}^{n} x_i^2",
        r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
        r"\left( \sqrt[3]{x} \right)' \text{ if } x < 1",
    ],
}
PIECES = {
    "mathml": [
        *(f"<{tag}>" for tag in sorted(MATHML_TAGS)),
        *(f"</{tag}>" for tag in sorted(MATHML_TAGS)),
        *(f"<{tag}/>" for tag in sorted(MATHML_TAGS)),
        *("<", ">", "&", "&amp;", "&alpha;", "&#0;", "&#x110000;", "]]>", "<![CDATA["),
        *("<!--", "-->", "<?x", '"', "'", "⁢", "[", "]", ",", "?", "M!2x2", "\x00"),
        *(' open="["', ' separators=",;"', ' cd="latexml"', ' closure="odd"'),
    ],
    "latex": [
        *(
            "{",
            "}",
            "[",
            "]",
            "^",
            "_",
            "&",
            "\\\\",
            "$",
            "%",
            "#",
            "~",
            "'",
            "|",
            "\\",
        ),
        *(r"\frac", r"\sqrt", r"\left(", r"\right.", r"\begin{cases}", r"\end{cases}"),
        *(
            r"\text{",
            r"\over",
            r"\limits",
            r"\def\a{\a\a}\a",
            r"\not",
            r"\mathbb",
            "\n",
        ),
        *(r"\hat", r"\operatorname{", r"\binom", r"\overset", r"\color{red}", "ℝ", "𝑥"),
    ],
}


def mutate(text: str, kind: str, chance: random.Random) -> str:
    """Return a damaged copy of a text."""
    for _ in range(chance.randint(1, 6)):
        start = chance.randint(0, len(text))
        end = min(len(text), start + chance.randint(0, 12))
        step = chance.randrange(8)
        if step == 0:
            text = text[:start] + text[end:]
        elif step == 1:
            text = text[:end] + text[start:]
        elif step == 2:
            text = text[:start] + chance.choice(PIECES[kind]) + text[start:]
        elif step == 3:
            text = text[:start] + chance.choice(PIECES[kind]) + text[end:]
        elif step == 4:
            text = text[:start] + chr(chance.randrange(0x11000)) + text[end:]
        elif step == 5:
            text = text[:start]
        elif step == 6 and chance.random() < 0.02:
            text = text[:start] + text[start:end] * 5000 + text[end:]
        else:
            other = chance.choice(SEEDS[kind])
            text = text[:start] + other + text[start:]
    return text


def make_noise(chance: random.Random) -> str:
    """Return random bytes as text."""
    return chance.randbytes(chance.randint(0, 200)).decode("utf-8", "replace")


def check_tree(tree: FormulaTree | None) -> None:
    """Raise where a tree does not survive its own bracket string."""
    if tree is None:
        return
    again = FormulaTree.from_string(tree.to_string(), tree.kind)
    if again.nodes != tree.nodes or again.edges != tree.edges:
        raise ValueError(f"does not survive its string: {tree!r}")


def check_mathml(text: str) -> None:
    """Read MathML in both modes."""
    for read in (slt_from_mathml, opt_from_mathml):
        counter: Counter[str] = Counter()
        tree = read(text, counter=counter)
        if tree is None and not counter:
            raise ValueError("no tree and no reason")
        check_tree(tree)
        try:
            read(text, mode="strict")
        except TreeError:
            continue


def check_latex(text: str) -> None:
    """Read LaTeX."""
    trees = formulas.trees_from_latex(text)
    if (trees.slt is None or trees.opt is None) and not trees.problems:
        raise ValueError("no tree and no reason")
    check_tree(trees.slt)
    check_tree(trees.opt)


CHECKS: dict[str, Callable[[str], None]] = {
    "mathml": check_mathml,
    "latex": check_latex,
}


def read_seeds(shared: Path) -> None:
    """Add real formulas to the seeds where there are any."""
    path = shared / "formula" / "parity_public.jsonl.gz"
    if not path.is_file():
        return
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            SEEDS["mathml"] += [row[cell] for cell in ("pmml", "cmml") if row.get(cell)]
            SEEDS["latex"].append(row["latex"])


def run(kind: str, cases: int, seed: int) -> int:
    """Check mutated texts of one kind; print a summary; return the failures."""
    chance = random.Random(seed)
    failures = hangs = 0
    slowest, slowest_text = 0.0, ""
    start = time.process_time()
    for _ in range(cases):
        noise = chance.random() < 0.05
        seed_text = chance.choice(SEEDS[kind])
        text = make_noise(chance) if noise else mutate(seed_text, kind, chance)
        begin = time.process_time()
        try:
            CHECKS[kind](text)
        except Exception as error:
            failures += 1
            print(f"  {type(error).__name__}: {error} on {text[:300]!r}")
        seconds = time.process_time() - begin
        hangs += seconds > LIMIT
        if seconds > slowest:
            slowest, slowest_text = seconds, text
    total = time.process_time() - start
    print(
        f"{kind:<8} {cases:>9,} cases  {failures} crashes  {hangs} over {LIMIT:.0f} s  "
        f"slowest {slowest:.3f} s ({len(slowest_text):,} characters)  "
        f"{total:.0f} s in all"
    )
    return failures + hangs


def main() -> None:
    """Read the command line and fuzz."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=20_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=sorted(CHECKS))
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    options = parser.parse_args()
    read_seeds(options.shared)
    kinds = [options.only] if options.only else list(CHECKS)
    failed = sum(run(kind, options.cases, options.seed) for kind in kinds)
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
