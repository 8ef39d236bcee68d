import logging

import pytest

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.records import Failure
from mathamr_kedro.base.shards import (
    EndOfShards,
    Shard,
    ShardFolder,
    ShardList,
    StartOfShards,
)


def write(folder, name, text="x", made_from="a"):
    folder.write(name, made_from, {"written": 1}, lambda path: path.write_text(text))


def save(folder, item):
    folder.save(item, lambda rows, path: path.write_text(str(rows)))


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
    with pytest.raises(MissingInputError, match=r"unfinished.*resumes"):
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


def test_checksum_depends_on_every_part():
    assert checksum("a", {"x": 1, "y": 2}) == checksum("a", {"y": 2, "x": 1})
    assert checksum("a", {"x": 1}) != checksum("a", {"x": 2})
    assert checksum("a", "b") != checksum("ab")


def flip(path):
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)


DAMAGES = {
    "changed": flip,
    "empty": lambda path: path.write_bytes(b""),
    "deleted": lambda path: path.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_shards_are_refused_and_made_again(folder, damage):
    for name in ("posts-0", "posts-1"):
        write(folder, name)
    folder.complete("a")
    damage(folder.path / "posts-1.txt")
    again = ShardFolder(folder.path, ".txt")
    with pytest.raises(DamagedFileError, match=r"posts-1.*kedro run"):
        for file in again.files():
            again.check(file)
    assert [line for line in again.list_damage() if "posts-1" in line]
    start = StartOfShards("a")
    save(again, start)
    assert start.finished == {"posts-0"}
    write(again, "posts-1")
    again.complete("a")
    assert [again.check(f).read_text() for f in again.files()] == ["x", "x"]


def test_checksum_follows_the_bytes(folder):
    write(folder, "posts-0")
    folder.complete("a")
    before = folder.checksum
    write(folder, "posts-0", made_from="b")
    folder.complete("b")
    assert folder.checksum == before
    write(folder, "posts-0", "other", made_from="b")
    folder.complete("b")
    assert folder.checksum != before


def test_failures_to_try_again_leave_their_shard_unfinished(folder):
    failure = Failure("amr_parsing", "posts", "", "1", "timeout", "600 s").classify()
    assert failure.kind == "transient"
    shard = Shard.of_rows("posts-0", "a", [failure])
    folder.write(shard.name, "a", shard.counts, lambda path: path.write_text("x"))
    folder.complete("a")
    assert folder.finished("a") == frozenset()
    stuck = Failure("amr_parsing", "posts", "", "1", "empty_text", "").classify()
    assert (stuck.kind, Shard.of_rows("p", "a", [stuck]).counts) == (
        "permanent", {"written": 1},
    )  # fmt: skip


def test_shards_of_another_source_are_not_finished(folder):
    folder.write("posts-0", "a", {}, lambda path: path.write_text("x"), "digest 1")
    start = StartOfShards("a")
    save(folder, start)
    assert start.is_finished("posts-0", "digest 1")
    assert not start.is_finished("posts-0", "digest 2")


def fill(folder, seconds):
    start = StartOfShards("a", {"texts": "1", "parser": "x"}, reuse="parser")
    save(folder, start)
    write(folder, "posts-0")
    folder.complete("a")
    (folder.path / ".seconds").write_text(str(seconds))


def test_costly_shards_are_not_thrown_away_unasked(folder):
    fill(folder, 7200)
    parts = {"texts": "1", "parser": "y"}
    asked = {"reuse": "parser", "discard": "amr_parsing.discard"}
    with pytest.raises(ConfigurationError) as caught:
        save(folder, StartOfShards("b", parts, **asked))
    message = str(caught.value)
    for part in ("2.0 h", "parser", "amr_parsing.discard=true", "moved away"):
        assert part in message
    assert "texts" not in message
    assert [f.name for f in folder.files()] == ["posts-0.txt"]
    save(folder, StartOfShards("b", parts, **asked, may_discard=True))
    write(folder, "posts-0", made_from="b")
    save(folder, StartOfShards("c", {"texts": "1", "parser": "z"}, **asked))  # cheap


@pytest.mark.parametrize(("seconds", "asks"), [(3599, False), (3600.5, True)])
def test_work_of_an_hour_is_costly(folder, seconds, asks):
    fill(folder, seconds)
    start = StartOfShards("b", {"texts": "1", "parser": "y"})
    if asks:
        with pytest.raises(ConfigurationError, match="parser"):
            save(folder, start)
    else:
        save(folder, start)


def test_folder_that_is_not_there_has_no_shards(tmp_path):
    assert ShardList.read(tmp_path / "none") == ShardList()
    folder = ShardFolder(tmp_path / "none", ".txt")
    start = StartOfShards("a")
    save(folder, start)
    assert (start.finished, start.files) == (frozenset(), {})


def test_old_shards_wait_aside_for_new_ones(folder):
    fill(folder, 7200)
    start = StartOfShards("b", {"texts": "2", "parser": "x"}, reuse="parser")
    save(folder, start)
    assert [f.read_text() for f in start.previous] == ["x"]
    write(folder, "posts-0", "new", made_from="b")
    again = StartOfShards("b", {"texts": "2", "parser": "x"}, reuse="parser")
    save(folder, again)  # killed and started again
    assert again.previous == start.previous
    folder.complete("b")
    assert not (folder.path / ".previous").exists()
    assert [f.read_text() for f in folder.files()] == ["new"]


def test_work_is_noted(folder, monkeypatch):
    clock = iter([0.0, 10.0, 35.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    save(folder, StartOfShards("a"))
    write(folder, "posts-0")
    write(folder, "posts-1")
    assert float((folder.path / ".seconds").read_text()) == 35.0


def test_counts_that_a_shard_does_not_have_are_none_of_it(folder):
    write(folder, "posts-0")
    folder.write("posts-1", "a", {"read": 2}, lambda path: path.write_text("x"))
    assert (folder.total("written"), folder.total("read")) == (1, 2)
    assert folder.total("skipped") == 0


def test_a_list_that_was_written_by_another_is_read_again(folder):
    write(folder, "posts-0")
    other = ShardFolder(folder.path, ".txt")
    assert other.finished("a") == {"posts-0"}
    write(folder, "posts-1")
    assert other.finished("a") == {"posts-0", "posts-1"}


def test_the_end_of_another_input_leaves_no_shards_of_the_first(folder):
    write(folder, "posts-0")
    folder.complete("b")
    assert folder.files() == []
    assert not (folder.path / "posts-0.txt").exists()


def test_a_new_start_forgets_time_half_files_and_what_waits_aside(folder):
    fill(folder, 7200)
    (folder.path / ".posts-1.txt.part").write_text("half")
    save(folder, StartOfShards("b", {"parser": "x"}, reuse="parser"))
    assert not (folder.path / ".posts-1.txt.part").exists()
    assert not (folder.path / ".seconds").exists()
    assert [f.name for f in (folder.path / ".previous").iterdir()] == ["a-posts-0.txt"]
    found = ShardFolder(folder.path, ".txt").read_list()
    assert (found.made_from, found.counts) == ("b", {})
    write(folder, "posts-0", made_from="c")
    assert not (folder.path / ".previous").exists()


def test_parts_are_noted_with_the_shards_that_were_started(folder):
    fill(folder, 0)
    assert folder.read_list().parts == {"texts": "1", "parser": "x"}
    write(folder, "posts-0", made_from="b")  # of another start
    assert folder.read_list().parts == {}


def test_damaged_shards_do_not_wait_aside(folder):
    fill(folder, 0)
    write(folder, "posts-1")
    flip(folder.path / "posts-0.txt")
    again = ShardFolder(folder.path, ".txt")
    start = StartOfShards("b", {"parser": "x"}, reuse="parser")
    save(again, start)
    assert [f.name for f in start.previous] == ["a-posts-1.txt"]


def test_shards_that_are_made_again_are_counted_and_named(folder, caplog):
    for n in range(7):
        write(folder, f"posts-{n}")
    folder.complete("a")
    for n in range(6):
        (folder.path / f"posts-{n}.txt").unlink()
    with caplog.at_level(logging.WARNING):
        save(folder, StartOfShards("a"))
    (line,) = caplog.messages
    assert line.startswith("6 damaged or missing shards")
    assert line.endswith("posts-0, posts-1, posts-2, posts-3, posts-4")
    assert folder.read_list().counts.keys() == {"posts-6"}


def test_a_start_tells_files_and_sources_of_what_is_finished(folder):
    folder.write("posts-0", "a", {}, lambda path: path.write_text("x"), "digest 1")
    write(folder, "posts-1")
    start = StartOfShards("a")
    save(folder, start)
    assert start.sources == {"posts-0": "digest 1"}
    names = ("posts-0", "posts-1")
    assert start.files == {name: folder.path / f"{name}.txt" for name in names}


def test_a_shard_that_its_writer_has_just_replaced_is_whole(folder):
    write(folder, "posts-0", "old")
    folder.complete("a")
    reader = ShardFolder(folder.path, ".txt")
    (file,) = reader.files()
    known = reader.read_list()
    write(folder, "posts-0", "new")
    reader.read_list = lambda: known  # the list was read before
    assert reader.check(file).read_text() == "new"


@pytest.mark.parametrize("mark", [True, False])
def test_folders_above_are_made(tmp_path, mark):
    folder = ShardFolder(tmp_path / "a" / "b", ".txt")
    if mark:
        save(folder, EndOfShards("a"))
        assert folder.files() == []
    else:
        write(folder, "posts-0")
        assert folder.finished("a") == {"posts-0"}


def test_a_shard_of_another_size_is_refused_before_any_is_read(folder):
    write(folder, "posts-0")
    folder.complete("a")
    (folder.path / "posts-0.txt").write_text("longer")
    with pytest.raises(DamagedFileError, match=r"posts-0.*kedro run"):
        folder.files()


def test_shards_of_two_earlier_inputs_wait_aside(folder):
    fill(folder, 0)
    for made_from in ("b", "c"):
        start = StartOfShards(made_from, {"parser": "x"}, reuse="parser")
        save(folder, start)
        write(folder, "posts-0", made_from=made_from)
    assert [f.name for f in start.previous] == ["a-posts-0.txt", "b-posts-0.txt"]
