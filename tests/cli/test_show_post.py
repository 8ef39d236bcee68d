from typing import Any

import pytest
from click.testing import CliRunner
from kedro.io import DataCatalog, MemoryDataset

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import Post, Topic
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.cli import group
from mathamr_kedro.datasets.sharded_table import ShardedTableDataset
from mathamr_kedro.project import catalog as project

POST = Post("7", "answer", "1", "1", None, None, 3, (), "", "It is even.", ())
TOPIC = Topic(
    "A.1", "task1", 2020, "Even?", ("parity",), "Is it even?", (), None, None, None,
    None, None,
)  # fmt: skip


@pytest.fixture
def catalog(tmp_path, monkeypatch):
    tables: dict[str, Any] = {"statements": MemoryDataset()}
    for name, row in (("posts", POST), ("topics", TOPIC)):
        table = ShardedTableDataset(
            filepath=str(tmp_path / name), record=type(row).__name__
        )
        table.save(Shard(f"{name}-00000", "a", [row], {"written": 1}))
        table.save(EndOfShards("a"))
        tables[name] = table
    found = DataCatalog(tables)
    monkeypatch.setattr(project, "open_catalog", lambda env, data_root: found)


def run(*arguments):
    return CliRunner().invoke(group, arguments)


def test_help_lists_the_commands():
    output = run("--help").output
    assert "Show the results for a collection, a post, a formula" in output
    output = run("show", "--help").output
    assert "Summarise the outputs of the pipelines and where to find them." in output


@pytest.mark.parametrize(
    "name", ["show amr", "explain", "show graph", "show post", "search"]
)
def test_help_keeps_the_lines_of_examples(name):
    output = run(*name.split(), "--help").output
    assert f"\n    mathamr {name} " in output
    assert r"\b" not in output


def test_file_is_shown_as_the_pipelines_see_it(tmp_path):
    file = tmp_path / "note.md"
    file.write_text("# Even\n\nLet $x^2$ be [even].")
    output = run("show", "post", str(file)).output
    assert "Document note.md" in output
    assert "Let FORMULA_0 be [even]." in output
    assert "x^2" in output


def test_post_is_found_by_its_id(catalog):
    output = run("show", "post", "7").output
    assert "It is even." in output


def test_topic_is_shown_as_a_question(catalog):
    output = run("show", "post", "A.1").output
    assert "Question A.1" in output
    assert "Is it even?" in output and "parity" in output


def test_what_is_neither_a_post_nor_a_topic_is_named(catalog):
    with pytest.raises(MissingInputError, match="No post, topic or file '8'"):
        CliRunner().invoke(group, ["show", "post", "8"], catch_exceptions=False)


def test_unknown_command_is_refused():
    result = run("inspct", "1")
    assert result.exit_code != 0
    assert "inspct" in result.output
