import pytest
from click.testing import CliRunner
from kedro.io import DataCatalog

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import Post, Topic
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.cli import group
from mathamr_kedro.cli.inspect import _find
from mathamr_kedro.datasets.sharded_table import ShardedTableDataset

POST = Post("7", "answer", "1", "1", None, None, 3, (), "", "It is even.", ())
TOPIC = Topic(
    "A.1", "task1", 2020, "Even?", ("parity",), "Is it even?", (), None, None, None,
    None, None,
)  # fmt: skip


@pytest.fixture
def catalog(tmp_path):
    tables = {}
    for name, row in (("posts", POST), ("topics", TOPIC)):
        table = ShardedTableDataset(
            filepath=str(tmp_path / name), record=type(row).__name__
        )
        table.save(Shard(f"{name}-00000", "a", [row], {"written": 1}))
        table.save(EndOfShards("a"))
        tables[name] = table
    return DataCatalog(tables)


def run(*arguments):
    return CliRunner().invoke(group, arguments)


def test_help_lists_the_commands():
    output = run("--help").output
    assert "inspect" in output
    assert "Summarise the outputs of the pipelines and say where to look." in output


@pytest.mark.parametrize("name", ["amr", "explain", "graph", "inspect", "search"])
def test_help_keeps_the_lines_of_examples(name):
    output = run(name, "--help").output
    assert f"\n    mathamr {name} " in output
    assert r"\b" not in output


def test_file_is_shown_as_the_pipelines_see_it(tmp_path):
    file = tmp_path / "note.md"
    file.write_text("# Even\n\nLet $x^2$ be [even].")
    output = run("inspect", str(file)).output
    assert "Document note.md" in output
    assert "Let FORMULA_0 be [even]." in output
    assert "x^2" in output


def test_a_post_is_found_by_its_id(catalog):
    assert _find("7", catalog) == POST


def test_a_topic_is_shown_as_a_question(catalog):
    found = _find("A.1", catalog)
    assert (found.post_id, found.post_type) == ("A.1", "question")
    assert (found.title, found.text) == ("Even?", "Is it even?")
    assert found.tags == ("parity",)


def test_what_is_neither_a_post_nor_a_topic_is_named(catalog):
    with pytest.raises(MissingInputError, match="No post, topic or file '8'"):
        _find("8", catalog)


def test_unknown_command_is_refused():
    result = run("inspct", "1")
    assert result.exit_code != 0
    assert "inspct" in result.output
