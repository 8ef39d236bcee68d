"""Prepared graphs: what training and search read of a collection, one folder each.

::

    05_model_input/mathamr_plus/
      3f0c9a...e1/            named by a hash of the configuration
        configuration.json    the configuration itself, where the arrays are, a report
        types.json            node types by number
        relations.json        forward relations by number
        posts.arrays          the numbers of both for the numbers of the arrays; of each
        formulas.arrays       formula, whether Task 2 may return it
        topics.arrays
        train_pairs.npy       rows of question and answer, as positions in the posts
        validation_pairs.npy
        texts_posts_*.npy     vectors of a sentence encoder, if an encoder reads them
        seals.json            size and checksum of the files beside it

    graph_arrays/
      8a61b2.../              named by a hash of the variant of the graphs
        posts/, topics/       graphs, with the ids of their formulas
        formulas/             graphs of formulas that are in no post's graph

Two experiments that differ in a parameter have two folders, two that do not share one;
those that differ only in their vocabularies or pairs share the arrays. Both folders are
copied to train elsewhere; they need NumPy and torch to be read, nothing else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import Arrays, read_arrays
from mathamr_kedro.base.checksums import (
    check_file,
    check_folder,
    checksum,
    write_checksums,
)
from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.files import replace_folder, write_text

# Its reader is loaded when it is used: torch takes seconds, vocabularies need none.
from mathamr_kedro.graph import shards
from mathamr_kedro.graph.shards.folder import GraphFolder
from mathamr_kedro.graph.shards.layout import Renumbering
from mathamr_kedro.graph.shards.texts import join_texts
from mathamr_kedro.graph.shards.writer import join_shards
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import (
    RELATIONS,
    TYPES,
    NodeVocabulary,
    RelationVocabulary,
    Vocabularies,
)

CONFIGURATION = "configuration.json"
VERSION = 3
"""Of the folder; 3 has no arrays of its own."""
PARTS = ("posts", "topics", "formulas")
PAIRS = ("train_pairs", "validation_pairs")
REMEDY = "run the stage 'preprocessing' again, it rebuilds the folder"


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
        self.report: dict[str, Any] = content["report"]
        if content.get("version") != VERSION:
            raise MissingInputError(
                f"Expected prepared graphs of version {VERSION} in {str(folder)!r} "
                f"(got {content.get('version', 1)}); {REMEDY}"
            )
        self._arrays: str = content["arrays"]
        self.sources: dict[str, str] = content["sources"]
        """Checksum of each part: of its arrays, and of what may be returned."""
        check_folder(self.folder, REMEDY, whole=False)

    def check(self) -> PreparedGraphs:
        """Refuse files whose bytes were changed; they are read once in a process.

        For who reads all of them anyway.

        Raises:
            DamagedFileError: one is not what was written.
        """
        check_folder(self.folder, REMEDY, whole=True)
        for part in self.sources.keys() & {*PARTS} or ("posts",):
            self.open(part).check()
        return self

    def _find(self, name: str) -> Path:
        check_file(self.folder / name, REMEDY)
        return self.folder / name

    def __repr__(self) -> str:
        posts = GraphFolder(self.arrays_folder / "posts")
        return f"<{type(self).__name__}: {posts.describe()}, in {self.folder}>"

    @property
    def arrays_folder(self) -> Path:
        """Folder of the arrays, which may be shared."""
        return Path(os.path.normpath(self.folder / self._arrays))

    @property
    def identity(self) -> str:
        """What tells it from others: another one is another training."""
        return f"{self.folder.name}/{self.made_from}"

    @property
    def variant(self) -> GraphVariant:
        """What the encoder sees of the graphs."""
        return GraphVariant.of_record(self.configuration["graph"])

    @cached_property
    def vocabularies(self) -> Vocabularies:
        """Node types and forward relations."""
        for name in (TYPES, RELATIONS):
            self._find(name)
        return Vocabularies.load(self.folder)

    @property
    def types(self) -> NodeVocabulary:
        """Node types."""
        return self.vocabularies.types

    @property
    def relations(self) -> RelationVocabulary:
        """Forward relations."""
        return self.vocabularies.relations

    @cached_property
    def posts(self) -> shards.GraphShards:
        """Graphs of all posts."""
        return self.open("posts")

    @cached_property
    def topics(self) -> shards.GraphShards:
        """Graphs of all topics."""
        return self.open("topics")

    @cached_property
    def formulas(self) -> shards.GraphShards:
        """Graphs of formulas that are in no graph of a post."""
        return self.open("formulas")

    def open(self, part: str) -> shards.GraphShards:
        """Return the graphs of a part.

        Raises:
            MissingInputError: the arrays are not there, or were made again since.
        """
        folder = self.arrays_folder / part
        if not folder.is_dir():
            raise MissingInputError(
                f"Expected the arrays of {str(self.folder)!r} in {str(folder)!r} (got "
                "none); copy this folder too, or run the stage 'preprocessing'"
            )
        numbers, schema = None, None
        if part in self.sources:
            columns = self._read_columns(part)
            numbers = Renumbering(columns["types"], columns["relations"])
            schema = self.vocabularies.schema
        found = shards.GraphShards(folder, numbers, schema, self.locate_texts(part))
        if found.checksum != self.sources.get(part, found.checksum):
            raise MissingInputError(
                f"Expected the arrays that {str(self.folder)!r} was made from in "
                f"{str(folder)!r} (got others); {REMEDY}"
            )
        return found

    def _read_columns(self, part: str) -> Arrays:
        return read_arrays(self._find(name_columns(part)))

    def load_returnable(self, part: str) -> NDArray[np.bool_]:
        """Tell of each formula in ``posts`` or ``formulas`` if Task 2 may return it."""
        return self._read_columns(part)["returnable"]

    def locate_texts(self, part: str) -> Path:
        """Return the file of the vectors of the texts of a part, if there are any."""
        return self.folder / f"texts_{part}_{self.sources.get(part, '')}.npy"

    @property
    def encoded_from(self) -> str:
        """Checksum of what is encoded: graphs, and which formulas are returned."""
        returned = (self.sources.get(name) for name in ("formulas", "returnable"))
        return checksum(self.made_from, *returned)

    @property
    def post_type(self) -> NDArray[np.uint8]:
        """Place in :data:`POST_TYPES` of each post."""
        return self.posts.post_types

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


def name_columns(part: str) -> str:
    """Return the name of the file with what is known of a part."""
    return f"{part}.arrays"


def write_configuration(
    folder: Path,
    configuration: Mapping[str, Any],
    arrays: str,
    made_from: str,
    sources: Mapping[str, str],
    report: Mapping[str, Any],
) -> None:
    """Write the file that makes a folder one of prepared graphs; it comes last."""
    content = {
        "configuration": configuration,
        "version": VERSION,
        "arrays": arrays,
        "made_from": made_from,
        "sources": sources,
        "report": report,
    }
    text = json.dumps(content, indent=2, default=str)
    write_text(folder / CONFIGURATION, text + "\n")


def join_prepared(folders: Sequence[Path], folder: Path) -> PreparedGraphs:
    """Write the posts and pairs of prepared graphs to one folder, in their order.

    Their arrays get the numbers of the vocabularies, which all have in common. Topics
    and single formulas stay behind: nothing is learnt from them. A folder that was
    joined from the same graphs is left as it is.

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
    posts = [part.posts for part in parts]
    starts = np.cumsum([0, *map(len, posts)])[:-1].tolist()
    with replace_folder(folder) as written:
        join_shards(
            [(graphs.folder, graphs.numbers) for graphs in posts],
            written / "posts",
            posts[0].schema,
        )
        for name in PAIRS:
            rows = [
                getattr(part, name) + start
                for part, start in zip(parts, starts, strict=True)
            ]
            np.save(written / f"{name}.npy", np.concatenate(rows))
        join_texts([(p.texts, len(p)) for p in posts], written / "texts_posts_.npy")
        first.vocabularies.save(written)
        write_checksums(written)
        report = {"joined": len(parts)}
        write_configuration(written, first.configuration, ".", made_from, {}, report)
    return PreparedGraphs(folder)


def _refuse_differences(first: PreparedGraphs, other: PreparedGraphs) -> None:
    one, two = (
        (graphs.variant, *graphs.vocabularies.names) for graphs in (first, other)
    )
    names = ("variant", "node types", "relations")
    for name, expected, found in zip(names, one, two, strict=True):
        if found != expected:
            raise ConfigurationError(
                f"Expected the {name} of {str(first.folder)!r} in "
                f"{str(other.folder)!r} too; prepare both with the same "
                "preprocessing.vocabulary.source and preprocessing.graph"
            )
