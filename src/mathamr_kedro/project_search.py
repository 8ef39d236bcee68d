r"""The search of a project from outside Kedro: opened once, asked as often as wanted.

::

    from mathamr_kedro.project_search import open_searcher

    searcher = open_searcher(env="demo")
    searcher.search(r"why is $\sqrt2$ irrational", top=5)
"""

from __future__ import annotations

from typing import Any

from mathamr_kedro.amr.texts import ParseTexts
from mathamr_kedro.datasets.sharded_table import RowFinder
from mathamr_kedro.errors import ConfigurationError, MissingInputError
from mathamr_kedro.graph.prepared import PreparedGraphs
from mathamr_kedro.graph.record_arrays import RecordArrays
from mathamr_kedro.graph.tree_lookup import StoredTrees
from mathamr_kedro.learning.trainer import MODEL
from mathamr_kedro.model.weights import load_model
from mathamr_kedro.parameters import read_parameters
from mathamr_kedro.pipelines.amr_parsing.parameters import AmrParsingParameters
from mathamr_kedro.pipelines.graph_fusion.nodes import GraphFusionParameters
from mathamr_kedro.pipelines.indexing.nodes import IndexingParameters
from mathamr_kedro.project import open_catalog
from mathamr_kedro.search.encoding import fingerprint_encoder
from mathamr_kedro.search.engines import open_index
from mathamr_kedro.search.queries import QueryEncoder
from mathamr_kedro.search.searcher import Searcher


def open_searcher(env: str | None = None, data_root: str | None = None) -> Searcher:
    """Load parser, encoder and index of an environment.

    Args:
        env: an environment of ``conf/``; ``None`` for the default one.
        data_root: another folder for what the stages wrote.

    Raises:
        MissingInputError: a stage has not been run.
        ConfigurationError: index and encoder do not belong together.
    """
    catalog: Any = open_catalog(env, data_root)
    option = f" --env {env}" if env else ""
    if not catalog["index"].exists():
        raise MissingInputError(
            f"No index to search; run `kedro run{option}` first, or its last stages "
            f"`kedro run{option} --from-nodes encode_posts`"
        )
    record, encoder = catalog.load("index"), catalog.load("encoder")
    settings = IndexingParameters.read(catalog.load("params:indexing"))
    parsing = AmrParsingParameters.read(catalog.load("params:amr_parsing"))
    fusion = read_parameters(
        GraphFusionParameters,
        catalog.load("params:graph_fusion"),
        where="graph_fusion",
    )
    # Those the encoder was trained on, whatever this environment would prepare.
    graphs = PreparedGraphs(
        catalog.load("prepared_graphs").base / encoder["prepared_graphs"]
    )
    model_folder = catalog.load("encoders").base / encoder["folder"] / MODEL
    mark = fingerprint_encoder(model_folder, graphs.made_from)
    if mark != record["encoder"]:
        raise ConfigurationError(
            f"Expected an index of the present encoder {mark!r} (got one of "
            f"{record['encoder']!r}); run `kedro run{option} --pipeline indexing`"
        )
    store = catalog.load("post_vectors").read(mark)
    places = catalog.load("indexes")
    trees = StoredTrees(catalog.load("formula_trees").path)
    parse = ParseTexts(parsing.parser_settings, parsing.max_chunk_tokens)
    parse.prepare()
    query_encoder = QueryEncoder(
        parse,
        RecordArrays(graphs, trees, fusion.mode),
        load_model(model_folder, settings.encoding.compute),
        parsing.max_chunk_tokens,
    )
    query_encoder.encode_text("Let $x$ be even.")  # loads what the first query needs
    return Searcher(
        open_index(settings.engine, store, places.folder(mark), places.connect),
        store,
        query_encoder,
        RowFinder(catalog.load("posts"), "post_id"),
        settings.strategy,
        parsing.max_chunk_tokens,
    )
