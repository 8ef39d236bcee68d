"""Scores on topics whose formulas outweigh words, from the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import FormulaMention, Judgment, Post, Topic
from mathamr_kedro.cli.experiments import dominance
from mathamr_kedro.trec import Run, write_run


def write_text(words: str, latex: str) -> tuple[str, tuple[FormulaMention, ...]]:
    mention = FormulaMention("FORMULA_0", "1", "1", latex, 0, 9)
    return f"FORMULA_0 {words}", (mention,)


POSTS = [
    Post(key, "answer", key, None, None, None, 1, (), "", *write_text(words, "a+b"))
    for key, words in {"1": "", "2": "one two three four five six", "3": "one"}.items()
]
TOPICS = [
    Topic(key, "task1", 2020, "", (), *write_text(words, "x=1"), None, None, None, None,
          None)
    for key, words in {"A.1": "", "A.2": "one two three four"}.items()
]  # fmt: skip
JUDGMENTS = [
    Judgment(topic, doc, grade, "task1", "q.tsv")
    for topic, doc, grade in [("A.1", "1", 3), ("A.1", "2", 2), ("A.2", "2", 2),
                              ("A.2", "3", 0)]
]  # fmt: skip
LISTS = {"A.1": {"1": 2.0, "3": 1.0}, "A.2": {"3": 2.0, "2": 1.0}}


class Table:
    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def records(self) -> Any:
        return iter(self.rows)

    def select(self, column: str, values: Any) -> Any:
        return (row for row in self.rows if getattr(row, column) in values)

    def exists(self) -> bool:
        return True


class Absent(Table):
    def exists(self) -> bool:
        return False


class Catalog(dict[str, Any]):
    def load(self, name: str) -> Any:
        return {"params:evaluation": {}, "visual_index": lambda key: None}.get(
            name, self.get(name)
        )


@pytest.fixture
def catalog(monkeypatch: pytest.MonkeyPatch) -> Catalog:
    found = Catalog(
        posts=Table(POSTS), topics=Table(TOPICS), judgments=Table(JUDGMENTS),
        visual_index=Table([]), runs=Absent([]),
    )  # fmt: skip
    monkeypatch.setattr(dominance.LastRun, "open", lambda last, *names: found)
    return found


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.trec"
    write_run(path, Run.from_scores("mine", LISTS), depth=None)
    return path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(
        dominance.command, list(arguments), catch_exceptions=False
    )


def test_run_files_are_broken_down_by_both_shares(catalog, run_file) -> None:
    done = invoke(str(run_file), "--output", "json", "--above", "0.5")
    groups = json.loads(done.output)["ARQMath-1"]["mine"]
    named = {(g["share_of"], g["above"]): g for g in groups}
    assert named["query", "all"]["topics"] == 2
    assert named["query", ">50 %"]["topics"] == 1  # A.1 is only a formula
    assert named["query", ">50 %"]["scores"]["P'@10"] == pytest.approx(0.1)
    # relevant: 1 and 2 for A.1, 2 for A.2; of those only 1 is mostly formulas
    assert named["answer", "all"]["scores"]["recall@1000"] == pytest.approx(0.75)
    assert named["answer", ">50 %"]["scores"]["recall@1000"] == 1.0


def test_the_tables_name_every_system_and_share(catalog, run_file) -> None:
    shown = invoke(str(run_file)).output
    assert "Formulas in questions (ARQMath-1)" in shown
    assert "Formulas in relevant answers (ARQMath-1)" in shown
    assert shown.count("mine") == 2
    assert shown.count(">70 %") == 6  # beside two published systems in each table


def test_what_is_missing_is_named(catalog, run_file) -> None:
    with pytest.raises(MissingInputError, match=r"Expected runs.*'evaluation'"):
        invoke()
    assert "expected numbers such as 0.5,0.7" in invoke("--above", "half").output
