"""The judged formulas of the embedded sample as a collection."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import pytest

from mathamr_kedro.base.records import FormulaInstance, Topic
from mathamr_kedro.formula import FormulaTrees, trees_from_latex
from mathamr_kedro.systems import Collection
from tests.conftest import PROJECT

SAMPLE = PROJECT / "data/01_raw/sample"
SMALL: Mapping[str, Any] = {
    "hidden_dim": 32, "num_epochs": 4, "batch_size": 64, "learning_rate": 3e-3,
}  # fmt: skip


class Sample(NamedTuple):
    """What a search over the sample needs, and who is right."""

    sources: Collection
    topics: list[Topic]
    grades: dict[str, dict[str, int]]
    """Topic, then visual id."""


@cache
def _read_trees(latex: str) -> FormulaTrees:
    return trees_from_latex(latex, mode="total")


def make_topic(name: str, latex: str) -> Topic:
    return Topic(name, "task2", 2020, "", (), "", (), f"q_{name}", latex, *[None] * 3)


@pytest.fixture(scope="session")
def sample() -> Sample:
    grades: dict[str, dict[str, int]] = {}
    for line in (SAMPLE / "Qrels/qrel_task2_sample.tsv").read_text().splitlines():
        topic, _, visual, grade = line.split("\t")
        grades.setdefault(topic, {})[visual] = int(grade)
    judged = {visual for found in grades.values() for visual in found}
    formulas = []
    for file in sorted((SAMPLE / "Formulas/latex_representation_v3").iterdir()):
        with file.open(newline="", encoding="utf-8") as rows:
            for row in csv.DictReader(rows, delimiter="\t"):
                if row["visual_id"] in judged:
                    names = (row["id"], row["visual_id"], row["post_id"])
                    formulas.append(FormulaInstance(*names, row["formula"]))
    text = (SAMPLE / "Topics/Task2/Topics_Task2_Sample.xml").read_text("utf-8")
    found = re.findall(r'number="(B\.\d+)".*?<Latex>(.*?)</Latex>', text, re.DOTALL)
    topics = [make_topic(name, latex.replace("&lt;", "<")) for name, latex in found]
    sources = Collection(
        formulas=lambda: formulas, trees_of=lambda formula: _read_trees(formula.latex)
    )
    return Sample(sources, topics, grades)
