"""Parameters of preprocessing, training pairs, and the folder that both make."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path, PurePath
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import write_arrays
from mathamr_kedro.base.checksums import checksum, write_checksums
from mathamr_kedro.base.errors import (
    ConfigurationError,
    InputError,
    MalformedInputError,
)
from mathamr_kedro.base.files import replace_file
from mathamr_kedro.base.parameters import StageParameters, check_range
from mathamr_kedro.base.records import CleanText, Post, Topic, restore_latex
from mathamr_kedro.base.types import PostId
from mathamr_kedro.base.workers import WorkerConfig
from mathamr_kedro.corpus import FormulaIds, name_part, take_part
from mathamr_kedro.graph.counting import (
    LabelCounts,
    choose_vocabularies,
    number_labels,
)
from mathamr_kedro.graph.prepared import (
    CONFIGURATION,
    PAIRS,
    PreparedGraphs,
    name_columns,
    write_configuration,
)
from mathamr_kedro.graph.released import ReleasedEncoder
from mathamr_kedro.graph.shards.folder import GraphFolder
from mathamr_kedro.graph.shards.texts import place_texts, write_texts
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import VocabularyConfig

logger = logging.getLogger(__name__)

Pair = tuple[PostId, PostId]
"""A question and its answer."""


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

    def refuse_others(self, graphs: PreparedGraphs) -> None:
        """Refuse graphs that were prepared with other parameters.

        Raises:
            ConfigurationError: they were.
        """
        if graphs.folder.name != self.key:
            raise ConfigurationError(
                f"Expected graphs prepared with the parameters of 'preprocessing', "
                f"{self.key!r} (got {str(graphs.folder)!r}); run the stage "
                "'preprocessing'"
            )

    @property
    def variant_key(self) -> str:
        """The name of the folder of the arrays, which only depend on the variant."""
        return checksum(asdict(self.graph))

    @property
    def key(self) -> str:
        """The name of the folder of the prepared graphs."""
        return checksum(self.describe())


def prepare_graphs(
    folder: Path,
    arrays: Mapping[str, GraphFolder],
    pairs: Iterable[Pair],
    returnable: FormulaIds,
    config: PreprocessingConfig,
    pairs_from: str,
    returnable_from: str,
) -> PreparedGraphs:
    """Count the vocabularies of arrays, split the pairs, and write both to a folder.

    What was prepared from the same is left as it is.

    Args:
        folder: of all prepared graphs.
        arrays: of ``posts``, ``topics`` and ``formulas``.
        pairs: questions and answers to learn from.
        returnable: formulas that Task 2 may return.
        config: names the folder.
        pairs_from: checksum of ``pairs``.
        returnable_from: checksum of ``returnable``.

    Raises:
        MalformedInputError: a formula that may be returned has no graph.
    """
    place = folder / config.key
    sources = {part: found.checksum for part, found in arrays.items()}
    made_from = [sources["posts"], pairs_from]
    if config.vocabulary.source is not None:  # another folder may get its name
        released = ReleasedEncoder(config.vocabulary.source)
        made_from.append(checksum(*released.vocabularies.names))
    sources["returnable"] = returnable_from
    found = _open_current(place, checksum(*made_from), sources)
    if found is not None:
        logger.info("prepared graphs were already in %s", place)
        return found
    split = _split_pairs(pairs, arrays["posts"].keys, config.pairs)
    chosen = split.training_posts or None
    if chosen is None and config.vocabulary.source is None:
        logger.warning("no training pairs: all graphs are counted")
    counts = LabelCounts.of_graphs(arrays["posts"], chosen)
    vocabularies, counted = choose_vocabularies(counts, config.vocabulary, config.graph)
    logger.info(
        "%s node types cover %.2f %% of the nodes of %s graphs",
        f"{counted.types:,}",
        100 * counted.coverage,
        f"{counted.graphs:,}",
    )
    flags = _flag_formulas(arrays, returnable, config.graph)
    _clear(place, [f"texts_{part}_{sources[part]}" for part in arrays])
    for part, graphs in arrays.items():
        columns = number_labels(graphs, vocabularies)._asdict()
        if part in flags:
            columns["returnable"] = flags[part]
        write_arrays(place / name_columns(part), columns)
    for name, chosen_pairs in zip(PAIRS, split[:2], strict=True):
        rows = [tuple(map(arrays["posts"].position, pair)) for pair in chosen_pairs]
        table = np.array(rows, dtype=np.int64).reshape(-1, 2)
        with replace_file(place / f"{name}.npy") as part_file:
            with part_file.open("wb") as file:
                np.save(file, table)
    vocabularies.save(place)
    write_checksums(place, skip=[f.name for f in place.glob(".*")])
    write_configuration(
        place,
        config.describe(),
        Path(os.path.relpath(arrays["posts"].folder.parent, place)).as_posix(),
        checksum(*made_from),
        sources,
        {
            "vocabulary": asdict(counted),
            **{part: len(graphs) for part, graphs in arrays.items()},
            "failed": sum(len(graphs.failures) for graphs in arrays.values()),
            "returnable_formulas": len(returnable),
            "train_pairs": len(split.train),
            "validation_pairs": len(split.validation),
            "pairs_without_graph": split.without_graph,
        },
    )
    logger.info("prepared graphs are in %s", place)
    return PreparedGraphs(place)


def _open_current(
    folder: Path, made_from: str, sources: Mapping[str, str]
) -> PreparedGraphs | None:
    """Open a folder that was made from the same, and is whole."""
    if not (folder / CONFIGURATION).is_file():
        return None
    try:
        found = PreparedGraphs(folder)
        if (found.made_from, found.sources) == (made_from, sources):
            return found.check()
    except InputError as exc:
        logger.warning("rebuilding prepared graphs: %s", exc)
    return None


def _split_pairs(
    pairs: Iterable[Pair], keys: Sequence[PostId], config: SplitConfig
) -> PairSplit:
    split = PairSplit.draw(pairs, set(keys), config)
    logger.info(
        "%s training and %s validation pairs, %s pairs without a graph",
        f"{len(split.train):,}",
        f"{len(split.validation):,}",
        f"{split.without_graph:,}",
    )
    return split


def _clear(folder: Path, kept: Sequence[str]) -> None:
    """Empty a folder that nobody shall read; vectors of texts may stay."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIGURATION).unlink(missing_ok=True)
    for path in folder.iterdir():
        if path.name.lstrip(".").partition(".")[0] in kept:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _flag_formulas(
    arrays: Mapping[str, GraphFolder], ids: FormulaIds, variant: GraphVariant
) -> dict[str, NDArray[np.bool_]]:
    """Tell of each formula if Task 2 may return it.

    Raises:
        MalformedInputError: one that may be returned has no graph.
    """
    covered = np.zeros(len(ids), dtype=np.bool_)
    flags: dict[str, NDArray[np.bool_]] = {}
    for part in ("posts", "formulas"):
        found = [np.zeros(0, dtype=np.bool_)]
        for names in arrays[part].formula_ids():
            places = ids.find(names)
            found.append(places >= 0)
            covered[places[places >= 0]] = True
        flags[part] = np.concatenate(found)
    if variant.has_formulas:
        _refuse_missing(ids, np.flatnonzero(~covered).tolist())
    return flags


def _refuse_missing(ids: FormulaIds, missing: Sequence[int]) -> None:
    if not missing:
        return
    names = ", ".join(repr(ids[place]) for place in missing[:5])
    raise MalformedInputError(
        f"Expected a graph for each of the {len(ids):,} formulas that Task 2 may "
        f"return (got none for {len(missing):,}, e.g. {names}); the log says why their "
        "graphs could not be built, and ingestion.returnable can exclude them"
    )


def encode_texts(
    prepared: PreparedGraphs,
    posts: Iterable[Post],
    topics: Iterable[Topic],
    encode: Callable[[Sequence[str]], NDArray[Any]],
) -> None:
    """Encode texts of posts and topics for an encoder that reads them, or resume.

    Single formulas have no words.
    """
    width = 0
    for part, texts in (
        ("posts", partial(_place_posts, prepared.posts, posts)),
        ("topics", partial(_place_topics, prepared.topics, topics)),
        ("formulas", tuple),
    ):
        path, count = prepared.locate_texts(part), len(prepared.open(part))
        found = ((place, restore_latex(*text)) for place, text in texts())
        width = write_texts(path, count, found, encode, count, width)


def _place_posts(
    graphs: GraphFolder, posts: Iterable[Post]
) -> Iterator[tuple[int, CleanText]]:
    places = {key: place for place, key in enumerate(graphs.keys)}
    return place_texts(places, posts)


def _place_topics(
    graphs: GraphFolder, topics: Iterable[Topic]
) -> Iterator[tuple[int, CleanText]]:
    places = {key: place for place, key in enumerate(graphs.keys)}
    for topic in topics:
        clean = CleanText(topic.text, topic.formula_map)
        parts = {
            topic.topic_id: clean,
            name_part(topic.topic_id, "words"): take_part(clean, "words"),
            name_part(topic.topic_id, "formulas"): take_part(clean, "formulas"),
        }
        for key, part in parts.items():
            if key in places:
                yield places[key], part
