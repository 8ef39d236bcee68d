r"""The search of a project from outside Kedro: opened once, asked as often as wanted.

::

    from mathamr_kedro.project_search import open_living_index, open_searcher

    searcher = open_searcher(env="demo")
    searcher.search(r"why is $\sqrt2$ irrational", top=5)

    open_living_index(env="demo").delete(["33703"])
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from mathamr_kedro.amr import ParseTexts
from mathamr_kedro.datasets import RowFinder
from mathamr_kedro.errors import ConfigurationError, MissingInputError
from mathamr_kedro.graph import PreparedGraphs, RecordArrays, StoredTrees
from mathamr_kedro.learning.trainer import MODEL
from mathamr_kedro.model.weights import load_model
from mathamr_kedro.pipelines.amr_parsing.parameters import AmrParsingConfig
from mathamr_kedro.pipelines.graph_fusion.parameters import GraphFusionConfig
from mathamr_kedro.pipelines.indexing.parameters import IndexingConfig
from mathamr_kedro.project import open_catalog
from mathamr_kedro.records import Post
from mathamr_kedro.search import (
    AddedPosts,
    LivingIndex,
    QueryEncoder,
    Searcher,
    VectorStore,
    fingerprint_encoder,
    open_index,
)
from mathamr_kedro.types import PostId


def open_searcher(env: str | None = None, data_root: str | None = None) -> Searcher:
    """Load parser, encoder and index of an environment.

    Args:
        env: an environment of ``conf/``; ``None`` for the default one.
        data_root: another folder for what the stages wrote.

    Raises:
        MissingInputError: a stage has not been run.
        ConfigurationError: index and encoder do not belong together.
    """
    project = _Project(env, data_root)
    store, encoder = project.open_store(), project.load_encoder()
    encoder.encode_text("Let $x$ be even.")  # loads what the first query needs
    places, config = project.places, project.indexing
    find_posts = RowFinder(project.catalog.load("posts"), "post_id")
    find_added = AddedPosts(store.folder)

    def find_texts(ids: Collection[PostId]) -> Mapping[PostId, Post]:
        return {**find_posts(ids), **find_added(ids)}

    return Searcher(
        open_index(config.engine, store, places.folder(project.mark), places.connect),
        store,
        encoder,
        find_texts,
        config.strategy,
        project.parsing.max_chunk_tokens,
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
        project.load_encoder,
    )


class _Project:
    """What an index was made with."""

    def __init__(self, env: str | None, data_root: str | None) -> None:
        self.catalog: Any = open_catalog(env, data_root)
        option = f" --env {env}" if env else ""
        if not self.catalog["index"].exists():
            raise MissingInputError(
                f"No index to search; run `kedro run{option}` first, or its last "
                f"stages `kedro run{option} --from-nodes indexing.encode_posts`"
            )
        known = self.catalog.load("index")["encoder"]
        if self.mark != known:
            raise ConfigurationError(
                f"Expected an index of the present encoder {self.mark!r} (got one of "
                f"{known!r}); run `kedro run{option} --pipeline indexing`"
            )
        self.places = self.catalog.load("indexes")

    @cached_property
    def indexing(self) -> IndexingConfig:
        return IndexingConfig.read(self.catalog.load("params:indexing"))

    @cached_property
    def parsing(self) -> AmrParsingConfig:
        """How queries are parsed: by the parser of the graphs that are searched."""
        config = AmrParsingConfig.read(self.catalog.load("params:amr_parsing"))
        return config.settle(self.catalog.load("amr_parser"))

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
        return fingerprint_encoder(self._model_folder, self._graphs.made_from)

    def open_store(self) -> VectorStore:
        found: VectorStore = self.catalog.load("post_vectors").read(
            self.mark, verify=False
        )
        return found

    def load_encoder(self) -> QueryEncoder:
        """Load what turns texts into vectors."""
        fusion = GraphFusionConfig.read(self.catalog.load("params:graph_fusion"))
        trees = StoredTrees(self.catalog.load("formula_trees").path)
        tokens = self.parsing.max_chunk_tokens
        parse = ParseTexts(self.parsing.parser_settings, tokens)
        parse.prepare()
        return QueryEncoder(
            parse,
            RecordArrays(self._graphs, trees, fusion.mode),
            load_model(self._model_folder, self.indexing.encoding.compute),
            tokens,
        )
