import pytest
from kedro.io import DatasetError

from mathamr_kedro.base.records import FormulaMention, Post, TrainingPair
from mathamr_kedro.base.shards import EndOfShards, Shard, StartOfShards
from mathamr_kedro.datasets.sharded_table import (
    RowFinder,
    ShardedTableDataset,
)

MENTION = FormulaMention("FORMULA_0", "7", "70", "x^2", 4, 13)
POSTS = [
    Post("1", "question", "1", None, "2", None, 3, ("a",), "t", "x", (MENTION,)),
    Post("2", "answer", "1", "1", None, "2015", None, (), "", "", ()),
]  # fmt: skip


@pytest.fixture
def dataset(tmp_path):
    return ShardedTableDataset(filepath=str(tmp_path / "posts"), record="Post")


def save(dataset, *shards):
    for number, rows in enumerate(shards):
        name = f"posts-{number:05d}"
        dataset.save(Shard(name, "a", rows, {"written": len(rows)}))
    dataset.save(EndOfShards("a"))


def test_save_and_load(dataset):
    save(dataset, POSTS[:1], POSTS[1:], [])
    table = dataset.load()
    assert list(table.records()) == POSTS
    assert table.counts == {"written": 2}
    assert list(table.to_pandas(["post_id"])["post_id"]) == ["1", "2"]


def test_saved_shard_lets_its_rows_go(dataset):
    shard = Shard("posts-0", "a", list(POSTS), {})
    dataset.save(shard)
    assert shard.rows is None


def test_exists(dataset):
    assert not dataset.exists()
    dataset.save(Shard("posts-0", "a", POSTS, {}))
    assert not dataset.exists()
    dataset.save(EndOfShards("a"))
    assert dataset.exists()


def test_load_missing_file(dataset):
    with pytest.raises(DatasetError, match="missing; run the stage"):
        dataset.load()


def test_find_returns_one_row(dataset):
    save(dataset, POSTS[:1], POSTS[1:])
    assert dataset.load().find("post_id", "2") == POSTS[1]
    assert dataset.load().find("post_id", "3") is None


def test_many_rows_are_found_at_once(dataset):
    more = [POSTS[0]._replace(post_id=str(n)) for n in range(3, 9)]
    save(dataset, POSTS, [], more)
    find = RowFinder(dataset.load(), "post_id")
    wanted = ["8", "2", "77", "3", "8"]
    table = dataset.load()
    twin = {v: table.find("post_id", v) for v in wanted if v != "77"}
    assert find(wanted) == twin
    assert find([]) == {}


def test_the_last_rows_are_kept(dataset, monkeypatch):
    posts = [POSTS[0]._replace(post_id=str(n)) for n in range(6)]
    save(dataset, posts[:3], posts[3:])
    monkeypatch.setattr(RowFinder, "_KEPT", 3)  # of a thousand
    table = dataset.load()
    find, read, asked = RowFinder(table, "post_id"), table.read_rows, []
    monkeypatch.setattr(
        table, "read_rows", lambda file, rows: asked.append(rows) or read(file, rows)
    )
    for wanted in (["0", "4"], ["4", "0"], ["0", "1"], ["2"], ["4"], ["1", "2"]):
        assert [find(wanted)[w].post_id for w in wanted] == wanted
    # of 0 and 4, then nothing, 1, 2 (4 is forgotten), 4 (0 is), nothing
    assert asked == [[0], [1], [1], [2], [1]]


def test_table_without_shards_is_empty(dataset):
    dataset.save(EndOfShards("a"))
    assert list(dataset.load().records()) == []
    assert dataset.load().to_pandas().empty


def test_preview_shortens_long_cells(dataset):
    long = POSTS[0]._replace(text="x" * 500)
    save(dataset, [long])
    preview = dataset.preview()
    row = dict(zip(preview["columns"], preview["data"][0], strict=True))
    assert len(row["text"]) == 160
    assert row["formula_map"] == "1 items"


def test_unknown_record_is_refused():
    with pytest.raises(DatasetError, match="did you mean 'Post'"):
        ShardedTableDataset.from_config(
            "x", {"type": ShardedTableDataset, "filepath": "x", "record": "Posts"}
        )


@pytest.mark.parametrize(
    ("made_from", "finished"), [("a", {"posts-00000"}), ("b", frozenset())]
)
def test_start_is_answered_with_finished_shards(dataset, made_from, finished):
    save(dataset, POSTS)
    start = StartOfShards(made_from)
    dataset.save(start)
    assert start.finished == finished
    assert list(dataset.load().records()) == POSTS  # asking changes nothing


def test_pairs_are_a_table_too(tmp_path):
    dataset = ShardedTableDataset(filepath=str(tmp_path / "p"), record="TrainingPair")
    save(dataset, [TrainingPair("1", "2")])
    assert list(dataset.load().records()) == [("1", "2")]


def test_first_row_of_each_value_is_found(dataset):
    again = POSTS[1]._replace(text="later")
    save(dataset, POSTS[:1], [POSTS[1], again], [again])
    table = dataset.load()
    assert table.find_all("post_id", ["2", "1", "9"]) == {"1": POSTS[0], "2": POSTS[1]}
    assert table.find_all("post_id", []) == {}
