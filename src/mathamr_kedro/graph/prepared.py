"""Prepared graphs: everything that training and search read, one folder each.

::

    prepared_graphs/
      3f0c9a...e1/            named by a hash of the configuration
        configuration.json    the configuration itself, what it was made from, a report
        types.json            node types by number
        relations.json        forward relations by number
        posts/, topics/       shards of graphs, with the ids of their formulas
        post_type.npy         of each post: its place in POST_TYPES
        train_pairs.npy       rows of question and answer, as positions in posts/
        validation_pairs.npy

Two experiments that differ in a parameter have two folders, two that do not share one.
A folder appears whole or not at all. It needs NumPy and torch to be read, nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.files import replace_folder, write_text
from mathamr_kedro.graph.configuration import PreprocessingConfig
from mathamr_kedro.graph.pairs import Pair, PairSplit
from mathamr_kedro.graph.shards.layout import GROUPS, VERSION
from mathamr_kedro.graph.shards.writer import ShardWriter
from mathamr_kedro.graph.vocabulary import (
    NodeVocabulary,
    RelationVocabulary,
    make_schema,
)
from mathamr_kedro.wording import count_nouns

if TYPE_CHECKING:
    from mathamr_kedro.graph.blocks import GraphBlock
    from mathamr_kedro.graph.shards.reader import GraphShards

POST_TYPES = ("question", "answer", "document", "topic", "example")
"""By number in ``post_type.npy``."""

CONFIGURATION = "configuration.json"


@dataclass(frozen=True)
class Preparation:
    """What a folder of prepared graphs is written from."""

    parameters: PreprocessingConfig
    """They name the folder."""
    made_from: str
    """Fingerprint of the posts' graphs and the pairs: what an encoder learns from."""
    types: NodeVocabulary
    relations: RelationVocabulary
    split: PairSplit
    posts: Iterable[GraphBlock]
    """Blocks with final numbers; read once, one at a time."""
    topics: Iterable[GraphBlock]
    report: Mapping[str, Any] = field(default_factory=dict)
    topics_from: str = ""
    """Fingerprint of the topics' graphs."""


class PreparedGraphs:
    """One folder, read as it is needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        file = self.folder / CONFIGURATION
        if not file.is_file():
            raise MissingInputError(
                f"Expected prepared graphs in {str(folder)!r} (no {CONFIGURATION} "
                "there); run the stage 'preprocessing'"
            )
        content = json.loads(file.read_text(encoding="utf-8"))
        self.configuration: dict[str, Any] = content["configuration"]
        self.made_from: str = content["made_from"]
        self.version: int = content.get("version", 1)
        self.topics_from: str = content.get("topics_from", "")
        self.report: dict[str, Any] = content["report"]

    def __repr__(self) -> str:
        sizes = np.load(self.folder / "posts/sizes.npy", mmap_mode="r")
        nodes = int(sizes[:, list(GROUPS).index("node")].sum(dtype=np.int64))
        what = f"{count_nouns(len(sizes), 'post')}, {count_nouns(nodes, 'node')}"
        return f"<{type(self).__name__}: {what}, in {self.folder}>"

    @cached_property
    def types(self) -> NodeVocabulary:
        """Node types."""
        return NodeVocabulary.load(self.folder / "types.json")

    @cached_property
    def relations(self) -> RelationVocabulary:
        """Forward relations."""
        return RelationVocabulary.load(self.folder / "relations.json")

    @cached_property
    def posts(self) -> GraphShards:
        """Graphs of all posts."""
        return _open_shards(self.folder / "posts")

    @cached_property
    def topics(self) -> GraphShards:
        """Graphs of all topics."""
        return _open_shards(self.folder / "topics")

    @cached_property
    def post_type(self) -> NDArray[np.uint8]:
        """Place in :data:`POST_TYPES` of each post."""
        return np.load(self.folder / "post_type.npy")

    @cached_property
    def train_pairs(self) -> NDArray[np.int64]:
        """(n, 2) positions of questions and answers in :attr:`posts`."""
        return np.load(self.folder / "train_pairs.npy")

    @cached_property
    def validation_pairs(self) -> NDArray[np.int64]:
        """(n, 2) positions of questions and answers in :attr:`posts`."""
        return np.load(self.folder / "validation_pairs.npy")

    def all_pairs(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the pairs to learn from, then those held out, and which these are."""
        learn, held_out = self.train_pairs, self.validation_pairs
        is_held_out = np.repeat([False, True], [len(learn), len(held_out)])
        return np.concatenate([learn, held_out]), is_held_out


def _open_shards(folder: Path) -> GraphShards:
    # torch takes seconds to load; who only looks at a vocabulary need not wait.
    from mathamr_kedro.graph.shards.reader import GraphShards  # noqa: PLC0415

    return GraphShards(folder)


class PreparedStore:
    """All folders of prepared graphs below one."""

    def __init__(self, base: Path) -> None:
        self.base = Path(base)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.list()}, in {self.base}>"

    def folder(self, parameters: PreprocessingConfig) -> Path:
        """Return the folder of a configuration, whether it is there or not."""
        return self.base / parameters.key

    def open(self, parameters: PreprocessingConfig) -> PreparedGraphs:
        """Return the graphs of a configuration.

        Raises:
            MissingInputError: they were not prepared yet.
        """
        return PreparedGraphs(self.folder(parameters))

    def list(self) -> list[PreparedGraphs]:
        """Return all that are there."""
        files = sorted(self.base.glob(f"*/{CONFIGURATION}"))
        return [
            PreparedGraphs(f.parent) for f in files if not f.parent.name.startswith(".")
        ]

    def save(self, preparation: Preparation) -> bool:
        """Write a folder; leave one of this version alone if it was made from the same.

        Returns:
            Whether anything was written.
        """
        folder = self.folder(preparation.parameters)
        if (folder / CONFIGURATION).is_file():
            found = PreparedGraphs(folder)
            is_current = found.version == VERSION
            if is_current and found.made_from == preparation.made_from:
                if found.topics_from == preparation.topics_from:
                    return False
                _replace_topics(folder, preparation)
                return True
        with replace_folder(folder) as part:
            _write(part, preparation)
        return True


def _write(folder: Path, preparation: Preparation) -> None:
    schema = make_schema(preparation.types, preparation.relations)
    split = preparation.split
    wanted = {post for pair in (*split.train, *split.validation) for post in pair}
    positions: dict[str, int] = {}
    post_types: list[int] = []
    with ShardWriter(folder / "posts", schema) as writer:
        for block in preparation.posts:
            post_types += [_number_post_type(name) for name in block.post_types]
            for (key, graph), names in zip(block.graphs(), block.formulas, strict=True):
                if key in wanted:
                    positions[key] = len(writer)
                writer.add(key, graph, names)
    _write_topics(folder / "topics", preparation)
    np.save(folder / "post_type.npy", np.array(post_types, dtype=np.uint8))
    _save_pairs(folder / "train_pairs.npy", split.train, positions)
    _save_pairs(folder / "validation_pairs.npy", split.validation, positions)
    preparation.types.save(folder / "types.json")
    preparation.relations.save(folder / "relations.json")
    _write_configuration(folder, preparation)


def _write_topics(folder: Path, preparation: Preparation) -> None:
    schema = make_schema(preparation.types, preparation.relations)
    with ShardWriter(folder, schema) as writer:
        for block in preparation.topics:
            for (key, graph), names in zip(block.graphs(), block.formulas, strict=True):
                writer.add(key, graph, names)


def _replace_topics(folder: Path, preparation: Preparation) -> None:
    """Put other topics beside the same posts; a kill in between is noticed."""
    # Between these steps no configuration names the topics that are there.
    _write_configuration(folder, replace(preparation, topics_from=""))
    _write_topics(folder / "topics", preparation)
    _write_configuration(folder, preparation)


def _write_configuration(folder: Path, preparation: Preparation) -> None:
    content = {
        "configuration": preparation.parameters.describe(),
        "version": VERSION,
        "made_from": preparation.made_from,
        "topics_from": preparation.topics_from,
        "report": preparation.report,
    }
    text = json.dumps(content, indent=2, default=str)
    write_text(folder / CONFIGURATION, text + "\n")


def _number_post_type(name: str) -> int:
    known = POST_TYPES.index(name) if name in POST_TYPES else None
    return POST_TYPES.index("document") if known is None else known


def _save_pairs(
    path: Path, pairs: Sequence[Pair], positions: Mapping[str, int]
) -> None:
    rows = [(positions[question], positions[answer]) for question, answer in pairs]
    np.save(path, np.array(rows, dtype=np.int64).reshape(-1, 2))
