"""Archives of graphs: whole, and damaged in every way."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
from pathlib import Path

import penman
import pytest

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.integrations.graph_archive import (
    ArchivedFile,
    GraphArchive,
    write_archive,
)

TEXTS = {
    "topics": GraphRecord("A.1", "(s / solve-01)", "topic").format(),
    "posts": GraphRecord("1", "(e / even-01)", "question").format()
    + GraphRecord("2", "(y / yes)", "answer").format(),
}
FACTS = {"mode": "mathamr_plus", "fingerprints": {"topics": "t", "posts": "p"}}


def write(path: Path, texts: dict[str, str] = TEXTS, **facts: object) -> GraphArchive:
    files = [
        (ArchivedFile(t, f"{t}-0", {"written": 1}, f"{t}/{t}-0.amr.txt"), text.encode)
        for t, text in texts.items()
    ]
    write_archive(path, FACTS | facts, files)
    return GraphArchive(path)


def rewrite(path: Path, **changes: bytes | None) -> None:
    """Change or remove members of an archive by the start of their names."""
    with tarfile.open(path) as tar:
        members = [(m.name, tar.extractfile(m).read()) for m in tar]
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members:
            new = changes.get(name.split("/")[0].split(".")[0], content)
            if new is not None:
                info = tarfile.TarInfo(name)
                info.size = len(new)
                tar.addfile(info, io.BytesIO(new))


def test_what_was_written_is_read(tmp_path: Path) -> None:
    archive = write(tmp_path / "graphs.tar.gz")
    assert {file.table: text for file, text in archive.read()} == TEXTS
    assert archive.mode == "mathamr_plus"
    assert archive.checksum("posts") == "p"
    assert archive.checksum("pairs") is None


def test_the_same_graphs_make_the_same_bytes(tmp_path: Path) -> None:
    write(tmp_path / "one.tar.gz")
    write(tmp_path / "two.tar.gz")
    assert (tmp_path / "one.tar.gz").read_bytes() == (
        tmp_path / "two.tar.gz"
    ).read_bytes()


def test_other_tools_read_it(tmp_path: Path) -> None:
    write(tmp_path / "graphs.tar.gz")
    shutil.unpack_archive(tmp_path / "graphs.tar.gz", tmp_path)
    first, second = penman.load(tmp_path / "posts/posts-0.amr.txt")
    assert (first.metadata["id"], second.top) == ("1", "y")
    assert "CC BY-SA" in (tmp_path / "README.md").read_text()


def test_a_killed_export_leaves_the_old_archive(tmp_path: Path) -> None:
    path = tmp_path / "graphs.tar.gz"
    write(path)
    before = path.read_bytes()
    calls = []

    def read() -> bytes:
        calls.append(1)
        if len(calls) == 2:  # the checksum is known, the file is being written
            raise KeyboardInterrupt
        return b""

    with pytest.raises(KeyboardInterrupt):
        write_archive(path, FACTS, [(ArchivedFile("posts", "p", {}, "p"), read)])
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["graphs.tar.gz"]


def test_a_missing_archive(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"none\.tar\.gz"):
        GraphArchive(tmp_path / "none.tar.gz")


@pytest.mark.parametrize(
    "content", [b"", b"(s / solve-01)", gzip.compress(b"text", mtime=0)]
)
def test_a_file_that_is_no_archive(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "graphs.tar.gz"
    path.write_bytes(content)
    with pytest.raises(MalformedInputError, match=r"export graphs.*graph_fusion\.md"):
        GraphArchive(path)


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (None, "first file 'README.md'"),
        (b"{", "manifest.json"),
        (b"[]", "manifest.json"),
        (b'{"format": "mathamr-graphs", "version": 9}', r"version .*9"),
        (b'{"format": "mathamr-graphs", "version": 1}', "fingerprints"),
    ],
)
def test_a_foreign_archive(tmp_path: Path, manifest: bytes, message: str) -> None:
    path = tmp_path / "graphs.tar.gz"
    write(path)
    rewrite(path, manifest=manifest)
    with pytest.raises(MalformedInputError, match=message):
        GraphArchive(path)


def test_a_shard_may_not_leave_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "graphs.tar.gz"
    manifest = write(path).manifest
    manifest["files"][0]["shard"] = "../../evil"
    rewrite(path, manifest=json.dumps(manifest).encode())
    with pytest.raises(MalformedInputError, match="evil"):
        GraphArchive(path)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "graphs.tar.gz"
    write(path)
    rewrite(path, posts=TEXTS["posts"].replace("even", "evil").encode())
    with pytest.raises(MalformedInputError, match=r"posts-0\.amr\.txt' is damaged"):
        list(GraphArchive(path).read())


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "graphs.tar.gz"
    write(path)
    rewrite(path, posts=None)
    with pytest.raises(MalformedInputError, match=r"lacks 1 .*posts-0\.amr\.txt"):
        list(GraphArchive(path).read())


def test_an_archive_that_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "graphs.tar.gz"
    noise = "".join(f"{n * n:x}" for n in range(30_000))
    write(path, {"topics": TEXTS["topics"], "posts": f"({noise})"})
    path.write_bytes(path.read_bytes()[:30_000])
    with pytest.raises(MalformedInputError, match=r"ends at or after 'posts/"):
        list(GraphArchive(path).read())
