import pytest
from kedro.io import DatasetError

from mathamr_kedro.base.records import Formula
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.datasets.formula_trees import (
    FormulaTreesDataset,
    StartOfTrees,
)
from mathamr_kedro.formula import TreeRow
from tests.formula.batches import build_batch


def formula(number, visual_id, latex="x"):
    markup = f"<mi>{latex}</mi>", f"<ci>{latex}</ci>"
    head = (str(number), "1", visual_id, "answer", None, "", latex)
    return Formula(*head, *(f"<math>{m}</math>" for m in markup))


@pytest.fixture
def dataset(tmp_path):
    return FormulaTreesDataset(filepath=str(tmp_path / "trees"))


def save(dataset, name, formulas, made_from="a"):
    start = StartOfTrees(made_from)
    dataset.save(start)
    batch = build_batch(formulas, start.find_missing)
    dataset.save(Shard(name, made_from, batch, {}))
    return batch


def test_save_and_load(dataset):
    save(dataset, "1", [formula(1, "70"), formula(2, "70"), formula(3, "71")])
    second = save(dataset, "2", [formula(4, "71"), formula(5, "72")])
    dataset.save(EndOfShards("a"))
    assert [row.visual_id for row in second] == ["72"]
    store = dataset.load()
    assert store.trees("71").slt.to_string() == "[V!x]"
    assert store.describe()["sources"] == {"opt_cmml": 3, "slt_pmml": 3}


def test_what_is_made_of_trees_is_made_again_when_failed_ones_were_read(dataset):
    start = StartOfTrees("a")
    dataset.save(start)
    failed = TreeRow.without_trees(formula(1, "70"), "worker_died")
    dataset.save(Shard("1", "a", [failed], {}))
    dataset.save(EndOfShards("a"))
    with dataset.load() as before:
        assert before.trees("70").slt is None
    dataset.save(start)
    assert start.finished == set()
    save(dataset, "1", [formula(1, "70")])
    dataset.save(EndOfShards("a"))
    with dataset.load() as after:
        assert after.trees("70").slt.to_string() == "[V!x]"
        assert after.made_from == "a" != before.made_from


def test_exists(dataset):
    save(dataset, "1", [formula(1, "70")])
    assert not dataset.exists()
    dataset.save(EndOfShards("a"))
    assert dataset.exists()


def test_load_missing_file(dataset):
    with pytest.raises(DatasetError, match="missing or unfinished"):
        dataset.load()


def test_finished_batches_count_for_the_same_input_alone(dataset):
    save(dataset, "1", [formula(1, "70")])
    for made_from, finished in {"a": {"1"}, "b": frozenset()}.items():
        start = StartOfTrees(made_from)
        dataset.save(start)
        assert start.finished == finished


def test_other_input_starts_anew(dataset):
    save(dataset, "1", [formula(1, "70")])
    save(dataset, "1", [formula(9, "70"), formula(8, "99")], made_from="b")
    dataset.save(EndOfShards("b"))
    assert [row.visual_id for row in dataset.load()] == ["70", "99"]
    assert dataset.load().row("70").formula_id == "9"


def test_a_run_that_finds_nothing_to_do_leaves_the_bytes_as_they_are(dataset, tmp_path):
    """Else the next check of the checksums would call them damaged."""
    save(dataset, "1", [formula(1, "70")])
    dataset.save(EndOfShards("a"))
    (file,) = (tmp_path / "trees").glob("*.sqlite")
    before = file.read_bytes()
    start = StartOfTrees("a")
    dataset.save(start)
    assert start.finished == {"1"}
    assert start.find_missing(["70", "71"]) == {"71"}
    dataset.save(EndOfShards("a"))
    assert file.read_bytes() == before


@pytest.mark.parametrize("damage", ["flipped", "cut"])
def test_damaged_store_is_made_again(dataset, tmp_path, damage):
    """Whether or not its size tells."""
    save(dataset, "1", [formula(1, "70")])
    dataset.save(EndOfShards("a"))
    (file,) = (tmp_path / "trees").glob("*.sqlite")
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content if damage == "flipped" else content[:-4096])
    start = StartOfTrees("a")
    dataset.save(start)
    assert start.finished == frozenset()
    save(dataset, "1", [formula(1, "70")])
    dataset.save(EndOfShards("a"))
    assert dataset.load().trees("70").slt.to_string() == "[V!x]"


def test_whole_store_is_not_made_again(dataset):
    save(dataset, "1", [formula(1, "70")])
    dataset.save(EndOfShards("a"))
    start = StartOfTrees("a")
    dataset.save(start)
    assert start.finished == {"1"}


def test_costly_trees_are_not_thrown_away_unasked(dataset, tmp_path):
    dataset.save(StartOfTrees("a", {"posts": "1"}))
    save(dataset, "1", [formula(1, "70")])
    dataset.save(EndOfShards("a"))
    (tmp_path / "trees" / ".seconds").write_text("7200")
    with pytest.raises(DatasetError, match=r"2\.0 h"):
        dataset.save(StartOfTrees("b", {"posts": "2"}))
