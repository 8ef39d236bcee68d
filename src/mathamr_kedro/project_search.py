r"""The search of a project from outside Kedro: opened once, asked as often as wanted.

::

    from mathamr_kedro.project_search import open_living_index, open_searcher

    searcher = open_searcher(env="demo")
    searcher.search(r"is $\sqrt p$ irrational for a prime $p$?", top=5)

    open_living_index(env="demo").delete(["33703"])
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from mathamr_kedro.amr import ParseTexts
from mathamr_kedro.base.errors import (
    ConfigurationError,
    MathAMRError,
    MissingInputError,
    suggest,
)
from mathamr_kedro.base.records import CleanText, Post, Topic
from mathamr_kedro.base.types import PostId
from mathamr_kedro.datasets import RowFinder
from mathamr_kedro.graph import (
    FORMULA,
    PreparedGraphs,
    PreprocessingConfig,
    RecordArrays,
    StoredTrees,
    read_placeholder,
)
from mathamr_kedro.hints import complete_commands
from mathamr_kedro.learning.trainer import MODEL
from mathamr_kedro.model.weights import load_model
from mathamr_kedro.pipelines.amr_parsing.parameters import AmrParsingConfig
from mathamr_kedro.pipelines.graph_fusion.parameters import GraphFusionConfig
from mathamr_kedro.pipelines.indexing.parameters import IndexingConfig
from mathamr_kedro.project import open_catalog
from mathamr_kedro.project_systems import Finds, ProjectSystems
from mathamr_kedro.runs import TASK_OF
from mathamr_kedro.search import (
    EncodedQuery,
    QueryEncoder,
    Searcher,
    checksum_encoder,
)
from mathamr_kedro.search.explanation import caption_nodes
from mathamr_kedro.search.queries import EncodeWords
from mathamr_kedro.statement_search import StatementSearch
from mathamr_kedro.text import SentenceEncoder, find_text_model
from mathamr_kedro.texts_beside import TextsBeside
from mathamr_kedro.vectors import (
    AddedPosts,
    LivingIndex,
    PostEntry,
    VectorStore,
    open_index,
)

_TOPIC_ID = re.compile(r"[A-Z]\.\d+|NTCIR12-\S+")
"""What topics of ARQMath and NTCIR-12 are called."""


def open_searcher(
    env: str | None = None,
    data_root: str | None = None,
    system: str | None = None,
    fuse_with: Sequence[str] = (),
    finds: Finds = "posts",
) -> Searcher:
    """Load parser, encoder and index of an environment.

    Args:
        env: an environment of ``conf/``; ``None`` for the default one.
        data_root: another folder for what the stages wrote.
        system: how posts are found: a strategy, a baseline or a fusion that evaluation
            knows too; ``None``: ``indexing.search.system`` (``formula_system``).
        fuse_with: systems whose scores are averaged with its own.
        finds: what both of these are about; the other is found as configured.

    Raises:
        MissingInputError: a stage has not been run.
        ConfigurationError: index and encoder do not belong together, or there is no
            such system.
    """
    project = _Project(env, data_root)
    store, encoder = project.open_store(), project.load_encoder()
    encoder.encode_text("Let $x$ be even.")  # loads what the first query needs
    places, config = project.places, project.indexing
    folder = places.folder(project.mark)
    index = open_index(
        config.engine, store, folder, places.connect, beside_writers=True
    )
    find_posts = RowFinder(project.catalog.load("posts"), "post_id")
    find_added = AddedPosts(store.folder)
    find_beside = TextsBeside(project.catalog, find_posts)

    def find_texts(ids: Collection[PostId]) -> Mapping[PostId, Post]:
        return {**find_posts(ids), **find_added(ids), **find_beside(ids)}

    try:
        systems = ProjectSystems(project.catalog, config, finds, system, fuse_with)
        found = systems.open_posts(index, store, encoder)
        posts = StatementSearch(project.catalog, found)
        formulas = systems.open_formulas(index, store)
    except MathAMRError:
        index.close()
        raise
    return Searcher(
        index,
        store,
        encoder,
        find_texts,
        posts,
        formulas,
        project.parsing.max_chunk_tokens,
        project.find_topic,
    )


def open_living_index(
    env: str | None = None, data_root: str | None = None
) -> LivingIndex:
    """Find store and index of an environment; parser and encoder load when needed.

    Args and errors as :func:`open_searcher`.
    """
    project = _Project(env, data_root)
    return LivingIndex(
        project.open_store().folder,
        project.indexing.engine,
        project.places.folder(project.mark),
        project.places.connect,
        lambda: project.load_encoder().encode_post,
    )


class _Project:
    """What an index was made with."""

    def __init__(self, env: str | None, data_root: str | None) -> None:
        self.catalog: Any = open_catalog(env, data_root)
        if not self.catalog["index"].exists():
            raise MissingInputError(
                complete_commands(
                    "No index to search; run `kedro run` first, or its stage `kedro "
                    "run --pipelines indexing` where the others are done",
                    env,
                    data_root,
                )
            )
        known = self.catalog.load("index")["encoder"]
        if self.mark != known:
            raise ConfigurationError(
                complete_commands(
                    f"Expected an index of the present encoder {self.mark!r} (got one "
                    f"of {known!r}); run `kedro run --pipelines indexing`",
                    env,
                    data_root,
                )
            )
        self.places = self.catalog.load("indexes")

    @cached_property
    def indexing(self) -> IndexingConfig:
        return IndexingConfig.read(self.catalog.load("params:indexing"))

    @cached_property
    def parsing(self) -> AmrParsingConfig:
        """How queries are parsed: by the parser of the graphs that are searched."""
        config = AmrParsingConfig.read(self.catalog.load("params:amr_parsing"))
        return config.resolve(self.catalog.load("amr_parser"))

    @cached_property
    def _encoder(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.catalog.load("encoder")
        return found

    @cached_property
    def _graphs(self) -> PreparedGraphs:
        """Those the encoder was trained on, whatever this environment would prepare."""
        base = self.catalog.load("prepared_graphs").base
        return PreparedGraphs(base / self._encoder["prepared_graphs"])

    @property
    def _model_folder(self) -> Path:
        base: Path = self.catalog.load("encoders").base
        return base / self._encoder["folder"] / MODEL

    @cached_property
    def mark(self) -> str:
        """Fingerprint of the present encoder."""
        return checksum_encoder(self._model_folder, self._graphs.encoded_from)

    def open_store(self) -> VectorStore:
        found: VectorStore = self.catalog.load("post_vectors").read(
            self.mark, verify=False
        )
        return found

    def find_topic(self, text: str) -> EncodedQuery | None:
        """Return a topic as a query; that of Task 2 is its formula alone.

        Raises:
            MissingInputError: it is the id of no topic, or of one without vectors.
        """
        if not _TOPIC_ID.fullmatch(text):
            return None
        topic = self.catalog.load("topics").find("topic_id", text)
        store = self.catalog.load("topic_vectors").read(self.mark)
        if topic is None or text not in store.places:
            known = sorted(store.places)
            raise MissingInputError(
                f"Expected the id of a topic with vectors (got {text!r})"
                f"{suggest(text, known)}; the index has {len(known)} topics, from "
                f"{', '.join(known[:1]) or 'none'} to {', '.join(known[-1:]) or 'none'}"
            )
        (entry,) = store.read([text]).entries()
        if TASK_OF.get(topic.task) == 2:
            entry = _choose_formula(entry, topic)
        tokens = self.parsing.max_chunk_tokens
        captions = caption_nodes(topic.text, topic.formula_map, entry.kinds, tokens)
        mentions = (  # what is asked for has its LaTeX in the topic, too
            m._replace(latex=topic.latex or m.latex)
            if m.formula_id == topic.formula_id
            else m
            for m in topic.formula_map
        )
        clean = CleanText(topic.text, tuple(mentions))
        return EncodedQuery(entry, captions, clean=clean)

    def load_encoder(self) -> QueryEncoder:
        """Load what turns texts into vectors."""
        fusion = GraphFusionConfig.read(self.catalog.load("params:graph_fusion"))
        trees = StoredTrees(self.catalog.load("formula_trees").path)
        tokens = self.parsing.max_chunk_tokens
        parse = ParseTexts(self.parsing.parser_settings, tokens)
        parse.prepare()
        model = load_model(self._model_folder, self.indexing.encoding.compute)
        return QueryEncoder(
            parse,
            RecordArrays(self._graphs, trees, fusion.mode),
            model,
            tokens,
            self._load_text_model() if model.config.text_dim else None,
        )

    def _load_text_model(self) -> EncodeWords:
        """Load the sentence encoder whose vectors the encoder reads."""
        values = self.catalog.load("params:preprocessing")
        name = PreprocessingConfig.read(values).text_model
        if name is None:
            raise ConfigurationError(
                "Expected preprocessing.text_model, the sentence encoder that this "
                "encoder was trained with (got none)"
            )
        return SentenceEncoder(find_text_model(name)).encode


def _choose_formula(entry: PostEntry, topic: Topic) -> PostEntry:
    """Return the node of a topic's query formula alone."""
    asked = topic.formula_id or ""
    vector = entry.formula(asked)
    (mention,) = [m for m in topic.formula_map if m.formula_id == asked][:1]
    number = read_placeholder(mention.placeholder) or 0
    return PostEntry(
        entry.key, entry.post_type, vector[None], [FORMULA], [number], [asked],
        [mention.visual_id],
    )  # fmt: skip
