"""Parameters of preprocessing, training pairs, and the folder that both make.

Preparations write what :mod:`.prepared` reads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from mathamr_kedro.base.arrays import TextColumn
from mathamr_kedro.base.checksums import checksum, replace_checked_file, write_checksums
from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.parameters import StageParameters, check_range
from mathamr_kedro.base.types import PostId
from mathamr_kedro.base.workers import WorkerConfig
from mathamr_kedro.graph.entries import POST_TYPES
from mathamr_kedro.graph.released import ReleasedEncoder
from mathamr_kedro.graph.shards.layout import VERSION
from mathamr_kedro.graph.shards.writer import ShardWriter
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import (
    NodeVocabulary,
    RelationVocabulary,
    VocabularyConfig,
    make_schema,
)

if TYPE_CHECKING:
    from mathamr_kedro.corpus import FormulaIds
    from mathamr_kedro.graph.blocks import GraphBlock


Pair = tuple[PostId, PostId]
"""A question and its answer."""

CONFIGURATION = "configuration.json"


@dataclass(frozen=True)
class SplitConfig:
    """How training pairs are chosen and split (thesis 3.4.5)."""

    train_share: float = 0.9
    seed: int = 42
    max_pairs: int | None = None
    """Pairs to draw for an experiment, e.g. 50,000 (thesis 4.3); ``None``: all."""

    def __post_init__(self) -> None:
        check_range(self, "train_share", above=0, most=1)
        check_range(self, "max_pairs", least=1)


class PairSplit(NamedTuple):
    """Pairs to train on and pairs to stop by."""

    train: list[Pair]
    validation: list[Pair]
    without_graph: int = 0
    """Pairs dropped because the question or the answer has no graph."""

    @property
    def training_posts(self) -> set[PostId]:
        """Posts that training may see; the vocabulary is counted on their graphs."""
        return {post for pair in self.train for post in pair}

    @classmethod
    def draw(
        cls, pairs: Iterable[Pair], graphs: Collection[PostId], config: SplitConfig
    ) -> PairSplit:
        """Shuffle the pairs whose graphs exist by the seed, and split them.

        >>> pairs = [(f"q{n}", f"a{n}") for n in range(10)]
        >>> split = PairSplit.draw(pairs, {post for pair in pairs for post in pair},
        ...                        SplitConfig(seed=1))
        >>> len(split.train), len(split.validation)
        (9, 1)
        """
        distinct = list(dict.fromkeys(pairs))
        whole = [pair for pair in distinct if pair[0] in graphs and pair[1] in graphs]
        order = np.random.default_rng(config.seed).permutation(len(whole))
        shuffled = [whole[place] for place in order.tolist()][: config.max_pairs]
        middle = round(len(shuffled) * config.train_share)
        return cls(shuffled[:middle], shuffled[middle:], len(distinct) - len(whole))


@dataclass(frozen=True)
class PreprocessingConfig(StageParameters):
    """Parameters of the stage, ``conf/<env>/parameters/preprocessing.yml``.

    Other stages read it too, to find the graphs that were prepared with it.
    """

    STAGE: ClassVar = "preprocessing"

    graph: GraphVariant = field(default_factory=GraphVariant)
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)
    pairs: SplitConfig = field(default_factory=SplitConfig)
    text_model: str | None = None
    """Sentence encoder whose vectors document nodes read (``training.model.text_dim``):
    a known name or a folder; ``None``: they read none."""
    workers: WorkerConfig = field(default_factory=WorkerConfig)
    """How the stage runs; never changes what it makes."""

    def check_machine(self) -> None:
        """Refuse a released encoder that is not here, or is of other graphs."""
        if self.vocabulary.source is not None:
            ReleasedEncoder(self.vocabulary.source).load_vocabularies(self.graph)

    def describe(self) -> dict[str, Any]:
        """Return what the prepared graphs depend on, as plain values."""
        found: dict[str, Any] = {
            "graph": asdict(self.graph),
            "vocabulary": asdict(self.vocabulary),
            "pairs": asdict(self.pairs),
        }
        if self.text_model is not None:
            # A folder is known by its name, wherever it is.
            found["text_model"] = PurePath(self.text_model).name
        return found

    @property
    def variant_key(self) -> str:
        """The name of the folder of the blocks, which only depend on the variant."""
        return checksum(asdict(self.graph))

    @property
    def key(self) -> str:
        """The name of the folder of the prepared graphs."""
        return checksum(self.describe())


@dataclass(frozen=True)
class Preparation:
    """Input of a folder of prepared graphs."""

    parameters: PreprocessingConfig
    """They name the folder."""
    made_from: str
    """Checksum of the posts' graphs and the pairs: what an encoder learns from."""
    types: NodeVocabulary
    relations: RelationVocabulary
    split: PairSplit
    posts: Iterable[GraphBlock]
    """Blocks with final numbers; read once, one at a time."""
    topics: Iterable[GraphBlock]
    report: Mapping[str, Any] = field(default_factory=dict)
    topics_from: str = ""
    """Checksum of the topics' graphs."""
    formulas: Iterable[GraphBlock] = ()
    """Graphs of formulas that are in no graph of a post."""
    returnable: FormulaIds | None = None
    """Formulas that Task 2 may return; ``None``: all."""
    formulas_from: str = ""
    """Checksum of ``formulas`` and ``returnable``."""
    write_texts: Callable[[Path], None] | None = None
    """Writes vectors of the texts into a finished folder, or resumes."""

    def write(self, folder: Path) -> None:
        """Write everything to an empty folder."""
        pairs = (*self.split.train, *self.split.validation)
        wanted = {post for pair in pairs for post in pair}
        positions: dict[str, int] = {}
        post_types: list[int] = []

        def note_posts() -> Iterator[GraphBlock]:
            for block in self.posts:
                for key, name in zip(block.keys, block.post_types, strict=True):
                    if key in wanted:
                        positions[key] = len(post_types)
                    known = name if name in POST_TYPES else "document"
                    post_types.append(POST_TYPES.index(known))
                yield block

        self._write_graphs(folder / "posts", note_posts())
        self._write_graphs(folder / "topics", self.topics)
        self._write_formulas(folder)
        np.save(folder / "post_type.npy", np.array(post_types, dtype=np.uint8))
        _save_pairs(folder / "train_pairs.npy", self.split.train, positions)
        _save_pairs(folder / "validation_pairs.npy", self.split.validation, positions)
        self.types.save(folder / "types.json")
        self.relations.save(folder / "relations.json")
        write_checksums(folder)
        self._write_configuration(folder)

    def replace_parts(self, folder: Path, topics: bool, formulas: bool) -> None:
        """Put other topics or formulas beside the same posts.

        A kill in between is noticed: until all is written, no configuration names what
        is there.
        """
        unnamed = {"topics_from": ""} if topics else {}
        unnamed |= {"formulas_from": ""} if formulas else {}
        replace(self, **unnamed)._write_configuration(folder)  # type: ignore[arg-type]
        if topics:
            self._write_graphs(folder / "topics", self.topics)
        if formulas:
            self._write_formulas(folder)
        self._write_configuration(folder)

    def _write_graphs(self, folder: Path, blocks: Iterable[GraphBlock]) -> None:
        with ShardWriter(folder, make_schema(self.types, self.relations)) as writer:
            for block in blocks:
                graphs = zip(block.graphs(), block.formulas, strict=True)
                for (key, graph), names in graphs:
                    writer.add(key, graph, names)

    def _write_formulas(self, folder: Path) -> None:
        """Write formulas without a post's graph, and which formulas are returnable."""
        self._write_graphs(folder / "formulas", self.formulas)
        ids = self.returnable
        covered = np.zeros(len(ids) if ids is not None else 0, dtype=np.bool_)
        for part in ("posts", "formulas"):
            flags = [np.zeros(0, dtype=np.bool_)]
            for names in _read_formula_ids(folder / part):
                if ids is None:
                    flags.append(np.ones(len(names), dtype=np.bool_))
                    continue
                places = ids.find(names)
                flags.append(places >= 0)
                covered[places[places >= 0]] = True
            path = name_flags(folder, part)
            with replace_checked_file(path) as written, written.open("wb") as file:
                np.save(file, np.concatenate(flags))
        if ids is not None and self.parameters.graph.has_formulas:
            _refuse_missing(ids, np.flatnonzero(~covered).tolist())

    def _write_configuration(self, folder: Path) -> None:
        content = {
            "configuration": self.parameters.describe(),
            "version": VERSION,
            "made_from": self.made_from,
            "topics_from": self.topics_from,
            "formulas_from": self.formulas_from,
            "report": self.report,
        }
        text = json.dumps(content, indent=2, default=str)
        write_text(folder / CONFIGURATION, text + "\n")


def name_flags(folder: Path, part: str) -> Path:
    """Return the file that says which formulas of a part Task 2 may return."""
    return folder / f"returnable_{part}.npy"


def _refuse_missing(ids: FormulaIds, missing: Sequence[int]) -> None:
    if not missing:
        return
    names = ", ".join(repr(ids[place]) for place in missing[:5])
    raise MalformedInputError(
        f"Expected a graph for each of the {len(ids):,} formulas that Task 2 may "
        f"return (got none for {len(missing):,}, e.g. {names}); the log says why their "
        "graphs could not be built, and ingestion.returnable can exclude them"
    )


def _read_formula_ids(folder: Path, size: int = 1 << 20) -> Iterator[list[str]]:
    """Yield the ids of all formulas of shards, in order, some at a time."""
    ends = np.cumsum(np.load(folder / "formula_id_length.npy"), dtype=np.int64)
    ids = TextColumn(np.load(folder / "formula_id.npy", mmap_mode="r"), ends)
    for first in range(0, len(ids), size):
        yield list(ids.take(range(first, min(first + size, len(ids)))))


def _save_pairs(
    path: Path, pairs: Sequence[Pair], positions: Mapping[str, int]
) -> None:
    rows = [(positions[question], positions[answer]) for question, answer in pairs]
    np.save(path, np.array(rows, dtype=np.int64).reshape(-1, 2))
