import pytest

from mathamr_kedro.errors import MalformedInputError, MissingInputError
from mathamr_kedro.files import fingerprint
from mathamr_kedro.shards import ShardFolder


def write(folder, name, text="x", made_from="a"):
    folder.write(name, made_from, {"written": 1}, lambda path: path.write_text(text))


@pytest.fixture
def folder(tmp_path):
    return ShardFolder(tmp_path / "posts", ".txt")


def test_shards_are_listed_in_order_once_complete(folder):
    write(folder, "posts-1")
    write(folder, "posts-0")
    folder.complete("a")
    assert [f.name for f in folder.files()] == ["posts-0.txt", "posts-1.txt"]
    assert folder.total("written") == 2


def test_unfinished_folder_is_refused(folder):
    with pytest.raises(MissingInputError, match="missing"):
        folder.files()
    write(folder, "posts-0")
    with pytest.raises(MissingInputError, match=r"unfinished.*goes on"):
        folder.files()


def test_failed_shard_leaves_nothing_in_the_list(folder):
    def fail(path):
        path.write_text("half")
        raise OSError("disk full")

    write(folder, "posts-0")
    with pytest.raises(OSError, match="disk full"):
        folder.write("posts-1", "a", {}, fail)
    assert folder.finished("a") == {"posts-0"}
    assert not (folder.path / "posts-1.txt").exists()


def test_other_input_starts_anew(folder):
    write(folder, "posts-0")
    write(folder, "posts-1")
    assert folder.finished("b") == frozenset()
    write(folder, "posts-0", made_from="b")
    folder.complete("b")
    assert [f.name for f in folder.files()] == ["posts-0.txt"]
    assert not (folder.path / "posts-1.txt").exists()


def test_same_shard_can_be_written_again(folder):
    write(folder, "posts-0", "old")
    write(folder, "posts-0", "new")
    folder.complete("a")
    assert [f.read_text() for f in folder.files()] == ["new"]


def test_complete_folder_without_shards_is_empty(folder):
    folder.complete("a")
    assert folder.files() == []


def test_damaged_list_says_what_to_do(folder):
    write(folder, "posts-0")
    (folder.path / "_shards.json").write_text("{")
    with pytest.raises(MalformedInputError, match="delete the folder"):
        folder.files()


def test_fingerprint_depends_on_every_part():
    assert fingerprint("a", {"x": 1}) == fingerprint("a", {"x": 1})
    assert fingerprint("a", {"x": 1}) != fingerprint("a", {"x": 2})
    assert fingerprint("a", "b") != fingerprint("ab")
