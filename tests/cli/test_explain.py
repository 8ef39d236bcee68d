r"""``mathamr explain --formula``: what systems of other papers matched."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from kedro.io import DataCatalog, MemoryDataset

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.records import Topic
from mathamr_kedro.cli.explain import command
from mathamr_kedro.formula import trees_from_latex
from mathamr_kedro.project import search as project_search
from mathamr_kedro.systems import Rankings
from mathamr_kedro.systems.formula_rgcn.search import NodeMatches

TOPIC = Topic("B.1", "task2", 0, "", (), "", (), "q", "y^2", None, None, None)


class Asked(Rankings):
    """Matches the query with itself; notes what it was asked."""

    def __init__(self) -> None:
        super().__init__({})
        self.calls: list[tuple[str, str]] = []

    def explain_nodes(self, query: Any, found: str, ranking: str) -> list[NodeMatches]:
        latex = query.asked_formula.latex
        self.calls.append((latex, found))
        tree = trees_from_latex(latex).opt
        assert tree is not None
        places = tuple(range(tree.size))
        return [NodeMatches("opg", tree, tree, places, (1.0,) * tree.size)]


@pytest.fixture
def ranker(monkeypatch: pytest.MonkeyPatch) -> Asked:
    asked = Asked()
    indexes = {
        f"{name}.index": MemoryDataset(
            SimpleNamespace(
                list_rankings=lambda target, name=name: [name],
                open=lambda index=index: index,
            ),
            copy_mode="assign",
        )
        for name, index in {"formula_rgcn": asked, "other": Rankings({})}.items()
    }
    topics = SimpleNamespace(find=lambda column, key: {"B.1": TOPIC}.get(key))
    others = {
        "parameters": {"systems": {"formula_rgcn": {}, "other": {}}},
        "topics": topics,
        "formula_trees": SimpleNamespace(find=lambda formula: None),
    }
    memory = {
        name: MemoryDataset(value, copy_mode="assign") for name, value in others.items()
    }
    catalog = DataCatalog(indexes | memory)
    monkeypatch.setattr(project_search, "open_catalog", lambda env, root: catalog)
    return asked


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command, [*arguments], catch_exceptions=False)


def test_matched_nodes_are_drawn_on_both_trees(ranker: Asked, tmp_path: Path) -> None:
    file = tmp_path / "new" / "why.svg"
    done = run(
        "--formula", "x^2", "17", "--system", "formula_rgcn", "--output", str(file)
    )
    assert done.exit_code == 0, done.output
    assert ranker.calls == [("x^2", "17")]
    assert "Operator Tree: 1.0000, the mean over 3 query nodes" in done.output
    assert "O!SUP ·1 1.00" in done.output and "query:" in done.output
    assert file.read_text(encoding="utf-8").startswith("<svg")


def test_a_topic_is_named_by_its_id(ranker: Asked) -> None:
    assert run("--formula", "B.1", "9", "--system", "formula_rgcn").exit_code == 0
    assert ranker.calls == [("y^2", "9")]


@pytest.mark.usefixtures("ranker")
def test_a_system_that_cannot_tell_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"'formula_rgm'; did you mean"):
        run("--formula", "x", "9", "--system", "formula_rgm")
    with pytest.raises(ConfigurationError, match="compares them whole"):
        run("--formula", "x", "9", "--system", "other")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "needs --system"),
        (["--system", "formula_rgcn", "--with", "bm25"], "takes no --with"),
        (["--system", "formula_rgcn", "--output", "a.png"], ".svg"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: list[str], message: str) -> None:
    done = run("--formula", "x", "9", *options)
    assert done.exit_code == 2
    assert message in done.output
