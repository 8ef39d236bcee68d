"""Adding to an index, deleting from it, and its status, from the terminal."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mathamr_kedro.base.errors import DamagedFileError, LockedError, MissingInputError
from mathamr_kedro.base.writers import WriterLock
from mathamr_kedro.cli import index, search
from mathamr_kedro.project.catalog import open_catalog
from mathamr_kedro.project.search import open_search, open_updatable_index
from mathamr_kedro.search.responses import write_parts
from mathamr_kedro.systems.changes import ChangeStore
from mathamr_kedro.systems.mathamr_plus import IndexingConfig
from tests.pipelines.graph_world import PROJECT, run_stage
from tests.pipelines.search_world import TEXTS, build_index, write_encoder

NOTE = """# Cubes

Why is $\\sqrt[3]{5}$ irrational?

# Sums

The sum of the first $n$ odd numbers is $n^2$.
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    build_index(folder)
    return folder


@pytest.fixture
def data(built: Path, tmp_path: Path) -> Path:
    """A copy: every test starts from the same six posts."""
    return Path(shutil.copytree(built, tmp_path / "data"))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "note.md").write_text(NOTE, encoding="utf-8")
    records = [
        {"id": "1", "text": "Is $x^2$ even?"},
        {"id": "faq", "question": "What is $e$?", "answer": "A number, $2.718$."},
    ]
    lines = "\n".join(map(json.dumps, records))
    (folder / "faq.jsonl").write_text(lines, encoding="utf-8")
    (folder / "picture.png").write_bytes(b"PNG")
    return folder


@pytest.fixture(autouse=True)
def in_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)


def run(data: Path, *arguments: str, command=index.command):
    options = ["--env", "test", "--data-root", str(data)]
    return CliRunner().invoke(command, [*arguments, *options], catch_exceptions=False)


def read_status(data: Path) -> dict:
    return json.loads(run(data, "status", "--json").stdout)


def find(data: Path, text: str, system: str = "maxsim-exact") -> list[dict]:
    options = ("--json", "--top", "20", "--system", system)
    found = run(data, text, *options, command=search.command)
    _, start, answer = found.stdout.partition("{\n")  # behind the log
    return json.loads(start + answer)["results"]


def test_added_files_are_found_with_their_texts(data: Path, notes: Path) -> None:
    result = run(data, "add", str(notes / "note.md"), str(notes / "faq.jsonl"))
    assert result.exit_code == 0, result.output
    assert "added 4 posts: note.md#1, note.md#2, faq, faq/answer" in result.stdout
    assert "replaced 1 post: 1" in result.stdout
    assert "6 formulas" in result.stdout
    (first, *_) = find(data, "Cubes\n\nWhy is $\\sqrt[3]{5}$ irrational?")
    assert (first["post_id"], first["title"]) == ("note.md#1", [{"text": "Cubes"}])
    assert r'"\\sqrt[3]{5}"' in json.dumps(first["sentences"])
    assert first["score"] == pytest.approx(1.0, abs=1e-5)
    status = read_status(data)
    assert (status["posts"], status["added"], status["deleted"]) == (10, 5, 0)


def test_words_see_at_once_what_was_added_replaced_and_deleted(
    data: Path, tmp_path: Path
) -> None:
    searcher = open_search("test", str(data), "bm25")
    assert not searcher.search("Tychonoff").results
    file = tmp_path / "notes.jsonl"
    records = [
        {"id": "note", "title": "Tychonoff", "text": "Products are compact."},
        {"id": "6", "text": "Nothing of the kind."},
    ]
    file.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    assert [r["post_id"] for r in find(data, "multiply primes", "bm25")] == ["6"]
    run(data, "add", str(file))
    assert [r["post_id"] for r in find(data, "Tychonoff", "bm25")] == ["note"]
    assert find(data, "multiply primes", "bm25") == []
    assert searcher.catch_up()  # as a server does before each request
    assert [r.post_id for r in searcher.search("Tychonoff").results] == ["note"]
    run(data, "delete", "note")
    assert find(data, "Tychonoff", "bm25") == []
    assert searcher.catch_up()
    assert not searcher.search("Tychonoff").results
    searcher.close()


def test_a_note_is_found_by_its_name(data: Path, tmp_path: Path) -> None:
    notes = {
        "Tychonoff": "Any product of compact spaces is compact.",
        "Skolem-Noether theorem": "Automorphisms of a central simple algebra are "
        "inner: $f(x) = u x u^{-1}$.",
        "Cauchy-Schwarz": "We have $|x \\cdot y| \\le |x| |y|$ for all $x$ and $y$.",
        "Markov's inequality": "We have $P(X \\ge a) \\le E X / a$.",
    }
    file = tmp_path / "notes.jsonl"
    records = [{"id": t, "title": t, "text": text} for t, text in notes.items()]
    file.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    run(data, "add", str(file))
    searcher = open_search("test", str(data))
    for title in notes:
        first, *_ = searcher.search(title).results
        assert write_parts(first.title) == title
    found = searcher.search("Tichonoff")
    assert found.response.did_you_mean == "tychonoff"
    searcher.close()


def test_a_post_is_encoded_as_the_collection_was(data: Path, tmp_path: Path) -> None:
    record = {"id": "copy", "text": TEXTS["2"], "format": "text"}
    file = tmp_path / "copy.jsonl"
    file.write_text(json.dumps(record), encoding="utf-8")
    assert run(data, "add", str(file)).exit_code == 0
    searcher = open_search("test", str(data))
    mine, theirs = searcher.store.read(["copy", "2"]).entries()
    searcher.close()
    assert mine.kinds == theirs.kinds
    assert mine.visual_ids == theirs.visual_ids
    assert mine.formula_ids == ["copy:0", "copy:1", "copy:2"]
    np.testing.assert_allclose(mine.vectors, theirs.vectors, atol=1e-6)


def test_ids_start_from_the_root(data: Path, notes: Path) -> None:
    (notes / "deep").mkdir()
    (notes / "note.md").rename(notes / "deep" / "note.md")
    root = run(data, "add", str(notes / "deep" / "note.md"), "--root", str(notes))
    assert "added 2 posts: deep/note.md#1, deep/note.md#2" in root.stdout
    wrong = run(data, "add", str(notes / "faq.jsonl"), "--root", str(notes / "deep"))
    assert "is not below --root" in wrong.output
    folder = run(data, "add", str(notes))
    assert folder.exit_code == 2 and "is a directory" in folder.output


@pytest.mark.slow
def test_a_sync_changes_what_differs_and_keeps_what_was_added_by_hand(
    data: Path, notes: Path
) -> None:
    run(data, "add", str(notes / "note.md"))
    opened = open_updatable_index("test", str(data))
    posts = {
        post.post_id: post
        for post in open_catalog("test", str(data)).load("posts").records()
        if post.post_id in ("1", "2")
    }
    changed = posts["1"]._replace(text="Is it odd?", formula_map=())
    found = opened.sync(posts | {"1": changed}, lambda post: post == posts["2"])
    assert found.replaced == found.added == ("1",)
    assert set(found.deleted) == {"3", "4", "5", "6"}
    assert opened.status().posts == 4  # with the two of the note
    again = opened.sync(posts | {"1": changed}, lambda post: post == posts["2"])
    assert (again.added, again.deleted) == ((), ())
    back = opened.sync(posts, lambda post: True)
    assert back.replaced == ("1",)  # what was synced is no longer what was indexed


def test_nothing_added_is_a_failure(data: Path, notes: Path) -> None:
    (notes / "empty.txt").write_text("  \n", encoding="utf-8")
    before = read_status(data)
    result = run(data, "add", str(notes / "picture.png"), str(notes / "empty.txt"))
    assert result.exit_code == 1
    assert "skipped picture.png" in result.stderr
    assert "skipped empty.txt: no text: an empty file" in result.stderr
    assert "Nothing was added." in result.stderr
    assert read_status(data) == before


def test_deleted_posts_are_found_no_more(data: Path, notes: Path) -> None:
    run(data, "add", str(notes / "note.md"))
    result = run(data, "delete", "2", "note.md#1")
    assert "deleted 2 posts" in result.stdout
    found = {r["post_id"] for r in find(data, "irrational")}
    assert found.isdisjoint({"2", "note.md#1"})
    assert "note.md#2" in found
    status = read_status(data)
    assert (status["posts"], status["added"], status["deleted"]) == (6, 1, 1)


def test_an_unknown_id_is_refused_with_the_nearest_name(
    data: Path, notes: Path
) -> None:
    run(data, "add", str(notes / "note.md"))
    before = read_status(data)
    message = "No post 'note.md#3' among the 8 of the index; did you mean 'note.md#"
    with pytest.raises(MissingInputError, match=message):
        run(data, "delete", "1", "note.md#3")
    assert read_status(data) == before


def test_added_answers_count_with_their_question(data: Path, notes: Path) -> None:
    run(data, "add", str(notes / "faq.jsonl"))
    question = "What is $e$?"
    (alone,) = [r for r in find(data, question) if r["post_id"] == "faq/answer"]
    both = find(data, question, "with_question")
    (together,) = [r for r in both if r["post_id"] == "faq/answer"]
    assert together["score"] > alone["score"]


def test_damaged_changes_are_told_with_what_to_do(data: Path, notes: Path) -> None:
    run(data, "add", str(notes / "note.md"))
    (file,) = data.rglob("posts.sqlite")
    content = bytearray(file.read_bytes())
    content[content.index(b"irrational")] ^= 1
    file.write_bytes(content)
    for call in (
        lambda: find(data, "primes"),
        lambda: run(data, "status"),
        lambda: run(data, "delete", "1"),
        lambda: run(data, "add", str(notes / "faq.jsonl")),
    ):
        with pytest.raises(DamagedFileError, match=r"note\.md#1.*delete the folder"):
            call()
    shutil.rmtree(file.parent)
    assert "note.md#1" not in {result["post_id"] for result in find(data, "primes")}
    assert "added 2 posts" in run(data, "add", str(notes / "note.md")).stdout


@pytest.mark.slow
def test_posts_stay_when_the_collection_is_encoded_again(
    data: Path, notes: Path
) -> None:
    """By an encoder of other weights; the next search encodes them too."""
    run(data, "add", str(notes / "note.md"))
    run(data, "delete", "6")
    write_encoder(data, seed=5)
    run_stage(data, "indexing")
    assert "waiting     2 added posts" in run(data, "status").stdout
    found = {result["post_id"] for result in find(data, "primes")}
    assert {"note.md#1", "note.md#2"} <= found
    assert "6" not in found
    status = read_status(data)
    assert (status["added"], status["waiting"], status["deleted"]) == (2, 0, 1)


@pytest.mark.slow
def test_posts_are_added_to_an_index_of_the_engine_exact(
    data: Path, notes: Path, monkeypatch
) -> None:
    read = IndexingConfig.read
    monkeypatch.setattr(
        IndexingConfig,
        "read",
        lambda values: read({**values, "engine": {"engine": "exact"}}),
    )
    run(data, "add", str(notes / "note.md"))
    run(data, "delete", "6")
    found = [result["post_id"] for result in find(data, "the first odd numbers")]
    assert found[0] == "note.md#2" and "6" not in found


@pytest.mark.slow
def test_posts_are_added_and_deleted_beside_an_open_notebook(
    data: Path, notes: Path
) -> None:
    searcher = open_search("test", str(data))
    before = searcher.search("primes", top=9).results
    run(data, "add", str(notes / "note.md"))
    run(data, "delete", "6")
    assert searcher.search("primes", top=9).results == before
    found = {result["post_id"] for result in find(data, "primes")}
    assert "6" not in found
    assert "note.md#1" in found
    searcher.close()


@pytest.mark.slow
def test_nothing_changes_while_another_process_writes(
    data: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search finds what it found before."""
    before = read_status(data)
    monkeypatch.delenv("MATHAMR_WRITER", raising=False)
    with WriterLock(data, "kedro run"):
        monkeypatch.delenv("MATHAMR_WRITER")  # what it started may write
        for command in (("add", str(notes / "note.md")), ("delete", "1")):
            with pytest.raises(LockedError, match="wait for it"):
                run(data, *command)
        assert "6" in [result["post_id"] for result in find(data, "primes")]
    assert read_status(data) == before


@pytest.mark.slow
def test_a_killed_addition_leaves_what_there_was(
    data: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(*_: object) -> None:
        raise KeyboardInterrupt

    before = read_status(data)
    with monkeypatch.context() as patch:
        patch.setattr(ChangeStore, "changing", kill)
        with pytest.raises(KeyboardInterrupt):
            open_updatable_index("test", str(data)).add(
                index.read_posts([notes / "note.md"], None)
            )
    assert read_status(data) == before
    assert "added 2 posts" in run(data, "add", str(notes / "note.md")).stdout
