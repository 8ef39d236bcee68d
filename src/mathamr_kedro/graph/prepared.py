"""Prepared graphs: everything that training and search read, one folder each.

::

    05_model_input/mathamr_plus/
      3f0c9a...e1/            named by a hash of the configuration
        configuration.json    the configuration itself, what it was made from, a report
        types.json            node types by number
        relations.json        forward relations by number
        posts/, topics/       shards of graphs, with the ids of their formulas
        formulas/             shards of graphs of formulas that are in no post's graph
        returnable_posts.npy, returnable_formulas.npy
                              of each formula in those: whether Task 2 may return it
        post_type.npy         of each post: its place in POST_TYPES
        train_pairs.npy       rows of question and answer, as positions in posts/
        validation_pairs.npy
        seals.json            size and checksum of the files beside it

Two experiments that differ in a parameter have two folders, two that do not share one.
A folder is written atomically. It needs NumPy and torch to be read, nothing else.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.checksums import (
    check_file,
    check_folder,
    checksum,
    write_checksums,
)
from mathamr_kedro.base.errors import ConfigurationError, InputError, MissingInputError
from mathamr_kedro.base.files import replace_folder, write_text
from mathamr_kedro.base.formatting import count_nouns

# Its reader is loaded when it is used: torch takes seconds, vocabularies need none.
from mathamr_kedro.graph import shards
from mathamr_kedro.graph.preparation import (
    CONFIGURATION,
    Preparation,
    PreprocessingConfig,
    name_flags,
)
from mathamr_kedro.graph.shards.layout import GROUPS, VERSION
from mathamr_kedro.graph.shards.writer import join_shards
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import (
    NodeVocabulary,
    RelationVocabulary,
)

logger = logging.getLogger(__name__)
_REMEDY = "run the stage 'preprocessing' again, it rebuilds the folder"
_PAIRS = ("train_pairs", "validation_pairs")


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
        self.formulas_from: str = content.get("formulas_from", "")
        self.report: dict[str, Any] = content["report"]
        check_folder(self.folder, _REMEDY, whole=False)

    def check(self) -> PreparedGraphs:
        """Refuse files whose bytes were changed; they are read once in a process.

        For who reads all of them anyway.

        Raises:
            DamagedFileError: one is not what was written.
        """
        check_folder(self.folder, _REMEDY, whole=True)
        for part in (self.posts, self.topics, self.formulas):
            part.check()
        return self

    def _find(self, name: str) -> Path:
        check_file(self.folder / name, _REMEDY)
        return self.folder / name

    def __repr__(self) -> str:
        sizes = np.load(self.folder / "posts/sizes.npy", mmap_mode="r")
        nodes = int(sizes[:, list(GROUPS).index("node")].sum(dtype=np.int64))
        what = f"{count_nouns(len(sizes), 'post')}, {count_nouns(nodes, 'node')}"
        return f"<{type(self).__name__}: {what}, in {self.folder}>"

    @property
    def identity(self) -> str:
        """What tells it from others: another one is another training."""
        return f"{self.folder.name}/{self.made_from}"

    @property
    def variant(self) -> GraphVariant:
        """What the encoder sees of the graphs."""
        return GraphVariant.of_record(self.configuration["graph"])

    @cached_property
    def types(self) -> NodeVocabulary:
        """Node types."""
        return NodeVocabulary.load(self._find("types.json"))

    @cached_property
    def relations(self) -> RelationVocabulary:
        """Forward relations."""
        return RelationVocabulary.load(self._find("relations.json"))

    @cached_property
    def posts(self) -> shards.GraphShards:
        """Graphs of all posts."""
        return shards.GraphShards(self.folder / "posts")

    @cached_property
    def topics(self) -> shards.GraphShards:
        """Graphs of all topics."""
        return shards.GraphShards(self.folder / "topics")

    @cached_property
    def formulas(self) -> shards.GraphShards:
        """Graphs of formulas that are in no graph of a post."""
        return shards.GraphShards(self.folder / "formulas")

    def load_returnable(self, part: str) -> NDArray[np.bool_]:
        """Tell of each formula in ``posts`` or ``formulas`` if Task 2 may return it.

        Raises:
            MissingInputError: the graphs were prepared by an earlier version.
        """
        file = name_flags(self.folder, part)
        if not file.is_file():
            raise MissingInputError(
                f"Expected {file.name} in {str(self.folder)!r}; run the stage "
                "'preprocessing' again"
            )
        return np.load(self._find(file.name))

    @property
    def encoded_from(self) -> str:
        """Checksum of what is encoded: graphs, and which formulas are returned."""
        return checksum(self.made_from, self.formulas_from)

    @cached_property
    def post_type(self) -> NDArray[np.uint8]:
        """Place in :data:`POST_TYPES` of each post."""
        return np.load(self._find("post_type.npy"))

    @cached_property
    def train_pairs(self) -> NDArray[np.int64]:
        """(n, 2) positions of questions and answers in :attr:`posts`."""
        return np.load(self._find("train_pairs.npy"))

    @cached_property
    def validation_pairs(self) -> NDArray[np.int64]:
        """(n, 2) positions of questions and answers in :attr:`posts`."""
        return np.load(self._find("validation_pairs.npy"))

    def all_pairs(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the pairs to learn from, then those held out, and which these are."""
        learn, held_out = self.train_pairs, self.validation_pairs
        is_held_out = np.repeat([False, True], [len(learn), len(held_out)])
        return np.concatenate([learn, held_out]), is_held_out


class PreparedStore:
    """All folders of prepared graphs below one."""

    def __init__(self, base: Path) -> None:
        self.base = Path(base)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.list()}, in {self.base}>"

    def folder(self, parameters: PreprocessingConfig) -> Path:
        """Return the folder of a configuration, whether it exists or not."""
        return self.base / parameters.key

    def open(self, parameters: PreprocessingConfig) -> PreparedGraphs:
        """Return the graphs of a configuration.

        Raises:
            MissingInputError: they were not prepared yet.
        """
        return PreparedGraphs(self.folder(parameters))

    def list(self) -> list[PreparedGraphs]:
        """Return all that exist."""
        files = sorted(self.base.glob(f"*/{CONFIGURATION}"))
        return [
            PreparedGraphs(f.parent) for f in files if not f.parent.name.startswith(".")
        ]

    def save(self, preparation: Preparation) -> bool:
        """Write a folder; keep one of this version if it was made from the same.

        Returns:
            Whether graphs were written.
        """
        folder = self.folder(preparation.parameters)
        is_written = self._write(folder, preparation)
        state = "are" if is_written else "were already"
        logger.info("prepared graphs %s in %s", state, folder)
        if preparation.write_texts is not None:
            preparation.write_texts(folder)
        return is_written

    def _write(self, folder: Path, preparation: Preparation) -> bool:
        found = _open_whole(folder)
        if found is not None:
            is_current = found.version == VERSION
            if is_current and found.made_from == preparation.made_from:
                topics = found.topics_from != preparation.topics_from
                formulas = found.formulas_from != preparation.formulas_from
                if topics or formulas:
                    preparation.replace_parts(folder, topics, formulas)
                return topics or formulas
        with replace_folder(folder) as part:
            preparation.write(part)
        return True


def _open_whole(folder: Path) -> PreparedGraphs | None:
    """Open a folder; none if it is missing or damaged."""
    if not (folder / CONFIGURATION).is_file():
        return None
    try:
        return PreparedGraphs(folder).check()
    except InputError as exc:
        logger.warning("rebuilding prepared graphs: %s", exc)
        return None


def join_prepared(folders: Sequence[Path], folder: Path) -> PreparedGraphs:
    """Write the posts and pairs of prepared graphs to one folder, in their order.

    Topics and single formulas stay behind: nothing is learnt from them. A folder that
    was joined from the same graphs is left as it is.

    Raises:
        ConfigurationError: the same numbers mean different things in two of them.
    """
    parts = [PreparedGraphs(path) for path in folders]
    made_from = checksum([part.made_from for part in parts])
    if (folder / CONFIGURATION).is_file():
        found = PreparedGraphs(folder)
        if found.made_from == made_from:
            return found
    first, *others = parts
    for part in others:
        _refuse_differences(first, part)
    starts = np.cumsum([0, *(len(part.posts) for part in parts)])[:-1].tolist()
    with replace_folder(folder) as written:
        join_shards([part.folder / "posts" for part in parts], written / "posts")
        for name in _PAIRS:
            rows = [
                getattr(part, name) + start
                for part, start in zip(parts, starts, strict=True)
            ]
            np.save(written / f"{name}.npy", np.concatenate(rows))
        post_types = np.concatenate([part.post_type for part in parts])
        np.save(written / "post_type.npy", post_types)
        first.types.save(written / "types.json")
        first.relations.save(written / "relations.json")
        write_checksums(written)
        content = {
            "configuration": first.configuration,
            "version": VERSION,
            "made_from": made_from,
            "report": {"joined": len(parts)},
        }
        write_text(written / CONFIGURATION, json.dumps(content, indent=2) + "\n")
    return PreparedGraphs(folder)


def _refuse_differences(first: PreparedGraphs, other: PreparedGraphs) -> None:
    one, two = (
        (graphs.variant, graphs.types.names, graphs.relations.names)
        for graphs in (first, other)
    )
    names = ("variant", "node types", "relations")
    for name, expected, found in zip(names, one, two, strict=True):
        if found != expected:
            raise ConfigurationError(
                f"Expected the {name} of {str(first.folder)!r} in "
                f"{str(other.folder)!r} too; prepare both with the same "
                "preprocessing.vocabulary.source and preprocessing.graph"
            )
