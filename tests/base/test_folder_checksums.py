"""Every change is noticed, and no kill makes a whole file look damaged."""

from __future__ import annotations

import pytest

from mathamr_kedro.base import checksums
from mathamr_kedro.base.checksums import (
    FileChecksum,
    check_file,
    check_folder,
    list_damage,
    remove_checked_file,
    replace_checked_file,
    write_checksums,
)
from mathamr_kedro.base.errors import DamagedFileError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.graph.released import FOLDER


def flip(path, place=0):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def save(path, text):
    with replace_checked_file(path) as part:
        part.write_text(text)


def test_changed_missing_and_short_files_are_found(tmp_path):
    for name in ("a", "b", "c", "card"):
        (tmp_path / name).write_text(f"content of {name}")
    write_checksums(tmp_path, skip=("card",))
    check_folder(tmp_path, "mend", whole=True)
    flip(tmp_path / "a")
    (tmp_path / "b").unlink()
    (tmp_path / "c").write_text("")
    flip(tmp_path / "card")
    found = list_damage(tmp_path, "mend")
    assert len(found) == 3
    for name, line in zip("abc", found, strict=True):
        assert str(tmp_path / name) in line
    assert all(line.endswith("; mend") for line in found)
    with pytest.raises(DamagedFileError):
        check_folder(tmp_path, "mend", whole=False)


def test_what_is_no_longer_needed_is_not_missed(tmp_path):
    save(tmp_path / "weights", "new")
    save(tmp_path / "checkpoint", "old")
    remove_checked_file(tmp_path / "checkpoint")
    remove_checked_file(tmp_path / "checkpoint")
    assert list_damage(tmp_path, "") == []
    assert not (tmp_path / "checkpoint").exists()
    flip(tmp_path / "weights")
    assert len(list_damage(tmp_path, "")) == 1


def test_folder_of_an_earlier_version_passes(tmp_path):
    (tmp_path / "a").write_text("old")
    check_folder(tmp_path, "", whole=True)
    check_file(tmp_path / "a", "")
    assert list_damage(tmp_path, "") == []


def test_damaged_checksums_are_named(tmp_path):
    (tmp_path / "seals.json").write_text("{")
    assert "seals.json" in list_damage(tmp_path, "")[0]


@pytest.mark.parametrize("had_checksum", [True, False])
@pytest.mark.parametrize("stop", ["before", "after"])
def test_a_kill_around_the_rename_leaves_a_file_that_fits(
    tmp_path, monkeypatch, had_checksum, stop
):
    path = tmp_path / "weights"
    if had_checksum:
        save(path, "old")
    else:
        path.write_text("old")

    class Killed(BaseException):
        pass

    calls = []

    def write(target, text):
        calls.append(target)
        if len(calls) == 2:  # the checksums after the rename
            raise Killed
        write_text(target, text)
        if stop == "before":
            raise Killed

    monkeypatch.setattr(checksums, "write_text", write)
    with pytest.raises(Killed):
        save(path, "new")
    assert path.read_text() == ("old" if stop == "before" else "new")
    check_file(path, "")
    flip(path)
    with pytest.raises(DamagedFileError):
        check_file(path, "")


def test_a_file_is_read_whole_once_in_a_process(tmp_path, monkeypatch):
    path = tmp_path / "shard"
    path.write_text("content")
    known, read = FileChecksum.of(path), []
    monkeypatch.setattr(FileChecksum, "check", lambda self, p, r: read.append(p))
    for _ in range(3):
        known.check_once(path, "")
    assert read == [path]


def test_the_released_encoder_is_whole():
    """Who changes a file of it calls ``write_checksums`` again."""
    for folder in FOLDER.iterdir():
        assert (folder / "seals.json").is_file()
        assert list_damage(folder, "write its checksums again") == []
