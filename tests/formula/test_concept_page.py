"""The page about formula trees shows what the code draws."""

from __future__ import annotations

import re
from pathlib import Path

from mathamr_kedro.formula import FormulaTree, FormulaTrees
from mathamr_kedro.formula.drawing import draw_svg, draw_text

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "formula_trees.md"
EXAMPLE = re.compile(r"`(\[[^`\n]+\])`\n\n```text\n(.*?)\n```", re.DOTALL)


def test_drawings_belong_to_their_strings():
    examples = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(examples) == 5
    for string, drawing in examples:
        assert draw_text(FormulaTree.from_string(string)) == drawing


def test_picture_shows_the_first_two_trees():
    (slt, _), (opt, _) = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))[:2]
    trees = FormulaTrees(FormulaTree.from_string(slt), FormulaTree.from_string(opt), {})
    picture = PAGE.with_suffix(".svg").read_text(encoding="utf-8")
    assert picture == draw_svg(trees) + "\n"
