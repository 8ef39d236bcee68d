"""Texts are parsed once: only added, changed and failed ones are parsed again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mathamr_kedro.amr import ParsedText
from mathamr_kedro.amr.graphs import ParseFailure
from mathamr_kedro.base.errors import ConfigurationError, find_cause
from mathamr_kedro.base.workers import Failed, PartitionResult
from mathamr_kedro.graph import GraphRecord, RecordFile
from mathamr_kedro.pipelines.amr_parsing import nodes
from mathamr_kedro.pipelines.amr_parsing.reuse import KnownGraphs, checksum_text

from .conftest import make_post

pytestmark = pytest.mark.slow

POSTS = [make_post(str(n), f"Text {n} of FORMULA_0.") for n in range(5)]


class Parser:
    """Stands in for the workers; notes the texts and fails where it is told to."""

    def __init__(self) -> None:
        self.parsed: list[str] = []
        self.answers: dict[str, object] = {}

    def run(self, function, partitions, config, *progress):
        for partition in partitions:
            self.parsed += partition.items
            results = [self.answers.get(text, make(text)) for text in partition.items]
            yield PartitionResult(*partition, results)

    def take(self) -> list[str]:
        parsed, self.parsed = sorted(self.parsed), []
        return parsed


def make(text: str) -> ParsedText:
    word = text.split()[1]
    return ParsedText(f"(t / text-{word} :ARG1 (f / FORMULA_0))", (), ())


@pytest.fixture
def parser(monkeypatch):
    found = Parser()
    monkeypatch.setattr(nodes, "run_partitions", found.run)
    return found


def read(catalog):
    return {r.graph_id: r for r in catalog.load("amr_graphs").records()}


def test_added_and_changed_posts_are_parsed_alone(write_texts, parse, parser):
    before = read(parse(write_texts(POSTS, [])))
    assert len(parser.take()) == 5
    changed = [make_post("9", "Text 9 of FORMULA_0."), *POSTS]
    changed[2] = make_post("1", "Text one of FORMULA_0.")
    after = read(parse(write_texts(changed, [])))
    assert parser.take() == ["Text 9 of FORMULA_0.", "Text one of FORMULA_0."]
    assert list(after) == ["9", "0", "1", "2", "3", "4"]
    assert {n: after[n] for n in "0234"} == {n: before[n] for n in "0234"}
    assert "text-one" in after["1"].graph


def test_graphs_of_another_data_root_are_taken_over(write_texts, parse, parser):
    """As docs/pipelines/graph_fusion.md shares them: a folder that is copied."""
    root = write_texts(POSTS, [])
    before = read(parse(root))
    parser.take()
    shared = root.with_name("shared")
    (root / "03_primary" / "amr_graphs").rename(shared)
    shutil.rmtree(root)
    root = write_texts([POSTS[0], make_post("9", "Text 9 of FORMULA_0.")], [])
    shutil.copytree(shared, root / "03_primary" / "amr_graphs")
    after = read(parse(root))
    assert parser.take() == ["Text 9 of FORMULA_0."]
    assert list(after) == ["0", "9"] and after["0"] == before["0"]


def test_other_sizes_of_shards_parse_nothing(write_texts, parse, parser):
    root = write_texts(POSTS, [])
    before = read(parse(root, posts_per_shard=2))
    parser.take()
    assert read(parse(root, posts_per_shard=1)) == before
    assert parser.take() == []


def test_another_parser_parses_all(write_texts, parse, parser):
    root = write_texts(POSTS, [])
    parse(root)
    parser.take()
    parse(root, parser="transition")
    assert len(parser.take()) == 5


@pytest.mark.parametrize("reason", ["timeout", "worker_died", "out_of_memory"])
def test_transient_failures_are_tried_again_and_others_not(
    write_texts, parse, parser, reason
):
    root = write_texts(POSTS, [])
    slow, bad = POSTS[1].text, POSTS[3].text
    parser.answers = {
        slow: Failed(reason, "no result"),
        bad: ParseFailure("penman_error", "no graph"),
    }
    catalog = parse(root)
    kinds = {f.record_id: f.kind for f in catalog.load("amr_post_failures").records()}
    assert kinds == {"1": "transient", "3": "permanent"}
    parser.take()
    parser.answers.pop(slow)
    catalog = parse(root)
    # The permanent one is in another shard, which is finished.
    assert parser.take() == [slow]
    assert sorted(read(catalog)) == ["0", "1", "2", "4"]
    assert [f.record_id for f in catalog.load("amr_post_failures").records()] == ["3"]
    parse(root)
    assert parser.take() == []


def test_a_post_that_lost_a_chunk_to_a_time_out_is_tried_again(
    write_texts, parse, parser
):
    root = write_texts(POSTS, [])
    lost = (ParseFailure("timeout", "chunk 2"),)
    parser.answers = {POSTS[0].text: make(POSTS[0].text)._replace(failures=lost)}
    parse(root)
    parser.take()
    parser.answers = {}
    catalog = parse(root)
    assert parser.take() == [POSTS[0].text]
    assert list(catalog.load("amr_post_failures").records()) == []


def test_weeks_of_parsing_are_not_thrown_away_unasked(write_texts, parse, parser):
    root = write_texts(POSTS, [])
    before = read(parse(root))
    (root / "03_primary/amr_graphs/.seconds").write_text("700000")
    parser.take()
    with pytest.raises(Exception) as caught:
        parse(root, parser="transition")
    cause = find_cause(caught.value)
    assert isinstance(cause, ConfigurationError)
    assert "194.4 h" in str(cause) and "amr_parsing.discard=true" in str(cause)
    assert read(parse(root)) == before
    assert parser.take() == []
    parse(root, parser="transition", discard=True)
    assert len(parser.take()) == 5


def test_a_damaged_shard_is_made_again(write_texts, parse, parser):
    root = write_texts(POSTS, [])
    before = read(parse(root))
    file = next((root / "03_primary/amr_graphs").glob("posts-00000*"))
    file.write_bytes(file.read_bytes().replace(b"text-", b"next-"))
    (root / "03_primary/failures/amr_posts/posts-00001-000.parquet").unlink()
    parser.take()
    assert read(parse(root)) == before
    assert parser.take() == [post.text for post in POSTS[:3]]


def test_a_shard_is_read_once_for_texts_in_its_order(tmp_path, monkeypatch):
    texts = [f"Text {n}." for n in range(6)]
    files = [tmp_path / "0", tmp_path / "1"]
    for file, some in zip(files, (texts[:3], texts[3:]), strict=True):
        RecordFile(file).write(
            GraphRecord(text[5], f"(t / text-{n})", text_checksum=checksum_text(text))
            for n, text in enumerate(some)
        )
    known, read = KnownGraphs(files), []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(
        Path, "read_bytes", lambda path: read.append(path.name) or read_bytes(path)
    )
    found = [known.find(text) for text in texts]
    assert [f.graph for f in found] == [f"(t / text-{n})" for n in (0, 1, 2) * 2]
    assert read == ["0", "1"]
