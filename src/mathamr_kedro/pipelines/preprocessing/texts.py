"""Vectors of a sentence encoder for graphs whose encoder reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from mathamr_kedro.base.records import CleanText, restore_latex
from mathamr_kedro.corpus import name_part, take_part
from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.graph import GraphShards, PreparedGraphs
from mathamr_kedro.graph.shards.layout import TEXTS
from mathamr_kedro.graph.shards.writer import write_texts
from mathamr_kedro.text import SentenceEncoder, find_text_model


def encode_texts(
    folder: Path, posts: ShardedTable, topics: ShardedTable, text_model: str
) -> None:
    """Encode the texts of posts and topics for an encoder that reads them, or resume.

    Args:
        folder: of their prepared graphs.
        posts: texts of posts.
        topics: texts of topics.
        text_model: a sentence encoder, by name or folder.
    """
    graphs = PreparedGraphs(folder)
    encoder = SentenceEncoder(find_text_model(text_model))

    def write(
        shards: GraphShards, texts: Iterable[tuple[int, str]], total: int, width: int
    ) -> int:
        path = shards.folder / TEXTS
        return write_texts(path, len(shards), texts, encoder.encode, total, width)

    number = len(graphs.posts)
    width = write(graphs.posts, _read_posts(graphs, posts), number, 0)
    write(graphs.topics, _read_topics(graphs, topics), len(graphs.topics), width)
    write(graphs.formulas, (), 0, width)  # they have no words


def _read_posts(
    graphs: PreparedGraphs, posts: ShardedTable
) -> Iterator[tuple[int, str]]:
    places = {key: place for place, key in enumerate(graphs.posts.keys)}
    for post in posts.records():
        if post.post_id in places:
            text = restore_latex(post.text, post.formula_map)
            yield places[post.post_id], text


def _read_topics(
    graphs: PreparedGraphs, topics: ShardedTable
) -> Iterator[tuple[int, str]]:
    places = {key: place for place, key in enumerate(graphs.topics.keys)}
    for topic in topics.records():
        clean = CleanText(topic.text, topic.formula_map)
        parts = {
            topic.topic_id: clean,
            name_part(topic.topic_id, "words"): take_part(clean, "words"),
            name_part(topic.topic_id, "formulas"): take_part(clean, "formulas"),
        }
        for key, part in parts.items():
            if key in places:
                yield places[key], restore_latex(*part)
