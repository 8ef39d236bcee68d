r"""The search of a project from outside Kedro: opened once for many queries.

::

    import mathamr_kedro as mathamr

    search = mathamr.open_search(env="demo")
    answer = search.search(r"is $\sqrt p$ irrational for a prime $p$?", top=5)
    for result in answer.results:
        print(result.score, result)
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from threading import RLock
from typing import Any, get_args

from kedro.io import DatasetError

from mathamr_kedro.amr import ParseTexts
from mathamr_kedro.base.errors import (
    ConfigurationError,
    MathAMRError,
    MissingInputError,
    suggest,
)
from mathamr_kedro.base.records import FormulaInstance, Post, Topic
from mathamr_kedro.base.types import FormulaId, PostId
from mathamr_kedro.base.writers import WriterLock
from mathamr_kedro.datasets import BuiltIndex, RowFinder
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.graph import (
    FORMULA,
    MathGraph,
    PreprocessingConfig,
    StoredTrees,
    read_placeholder,
)
from mathamr_kedro.pipelines.amr_parsing import AmrParsingConfig
from mathamr_kedro.pipelines.evaluation import EvaluationConfig
from mathamr_kedro.project.catalog import open_catalog, read_environment
from mathamr_kedro.project.hints import complete_commands
from mathamr_kedro.search import Lookups, Searcher, Statements
from mathamr_kedro.search.comment_texts import find_comment_texts
from mathamr_kedro.systems import (
    BASELINES,
    Fusion,
    Index,
    Query,
    Target,
    list_systems,
    read_system,
)
from mathamr_kedro.systems.bm25 import Bm25Index
from mathamr_kedro.systems.changes import ChangeStore
from mathamr_kedro.systems.ensemble import Ensemble
from mathamr_kedro.systems.mathamr_plus import (
    Encoder,
    EncodeWords,
    IndexingConfig,
    MathAMRPlusIndex,
    QueryEncoder,
    Strategy,
    open_vectors,
)
from mathamr_kedro.systems.query import TARGET_OF
from mathamr_kedro.systems.rankings import Ranking
from mathamr_kedro.systems.registry import OWN
from mathamr_kedro.systems.search_config import list_search_strategies
from mathamr_kedro.systems.updates import UpdatableIndex
from mathamr_kedro.text import SentenceEncoder, find_text_model
from mathamr_kedro.vectors import PostEntry

_TOPIC_ID = re.compile(r"[A-Z]\.\d+|NTCIR12-\S+")
"""What topics of ARQMath and NTCIR-12 are called."""


def open_search(
    env: str | None = None,
    data_root: str | None = None,
    system: str | None = None,
    fuse_with: Sequence[str] = (),
    finds: Target = "posts",
) -> Searcher:
    """Load parser, encoder and indexes of an environment.

    Args:
        env: an environment of ``conf/``; ``None`` for the default one.
        data_root: another folder for what the stages wrote.
        system: who ranks: a strategy, a system or a fusion that evaluation knows too;
            ``None``: ``indexing.search.system`` (``formula_system``).
        fuse_with: systems whose scores are averaged with its own.
        finds: what both of these are about; the other is found as configured.

    Raises:
        MissingInputError: a stage has not been run.
        ConfigurationError: index and encoder do not belong together, or there is no
            such system.
    """
    project = _Project(env, data_root)
    encoder = project.query_encoder
    encoder.read_text("Let $x$ be even.")  # loads what the first query needs
    vectors = project.vectors
    catalog = project.catalog
    find_posts = RowFinder(catalog.load("posts"), "post_id")
    tables = catalog.load("returnable_formulas"), catalog.load("comments")

    def find_texts(ids: Collection[PostId]) -> Mapping[PostId, Post]:
        added = project.live.changes.added
        by_hand = {i: added[i] for i in ids if i in added}
        comments = find_comment_texts(ids, *tables, find_posts)
        return {**find_posts(ids), **by_hand, **comments}

    try:
        systems = project.open_systems(system, fuse_with, finds)
    except MathAMRError:
        vectors.close()
        raise
    return Searcher(
        systems,
        vectors,
        encoder,
        Lookups(
            find_texts,
            project.find_graph,
            project.find_instances,
            project.trees.find,
            Statements(*map(project.load_optional, ("statements", "statement_links"))),
            project.find_topic,
            project.open_words,
        ),
        project.live.catch_up,
    )


def open_updatable_index(
    env: str | None = None, data_root: str | None = None, seconds: float = 0
) -> UpdatableIndex:
    """Find what was indexed and changed; parser and encoder load when needed.

    Nothing is changed while a run writes below the data root.

    Args and errors as :func:`open_search`. ``seconds``: how long a change waits for
    other writers.
    """
    project = _Project(env, data_root)
    changes: ChangeStore = project.catalog.load("changes")
    root = changes.folder.parents[1]
    return UpdatableIndex(
        changes,
        open_vectors(project.encoder.vectors_folder).posts,
        lambda: project.query_encoder.encode_post,
        lambda: WriterLock(root, "a change of the index", seconds),
    )


def explain_formula(
    text: str,
    found: FormulaId,
    system: str,
    env: str | None = None,
    data_root: str | None = None,
) -> Sequence[Any]:
    """Ask a system of another paper which parts of two formulas it matched.

    Args:
        text: LaTeX, or the id of a topic of Task 2.
        found: id of a formula, or of its post.
        system: as evaluation names it, e.g. ``formula_rgcn/slg``.
        env: an environment of ``conf/``; ``None`` for the default one.
        data_root: another folder for what the stages wrote.

    Returns:
        What the system's ``explain_nodes`` returns, e.g.
        :class:`~mathamr_kedro.systems.formula_rgcn.search.NodeMatches`.

    Raises:
        ConfigurationError: there is no such system, or it cannot tell.
    """
    catalog: Any = open_catalog(env, data_root)
    name, known = system.partition("/")[0], []
    for other in catalog.load("parameters").get("systems") or {}:
        if catalog[f"{other}.index"].exists():
            known += catalog.load(f"{other}.index").list_rankings("formulas")
    if system not in known:
        raise ConfigurationError(
            f"No system of another paper for formulas is named {system!r}"
            f"{suggest(system, known) or '.'} The last run indexed: "
            f"{', '.join(known) or 'none'} (conf/<env>/parameters/systems.yml)"
        )
    opened = catalog.load(f"{name}.index").open()
    explain = getattr(opened, "explain_nodes", None)
    if explain is None:
        raise ConfigurationError(
            f"Expected a system that compares parts of formulas (got {system!r}, which "
            "compares them whole)"
        )
    store = catalog.load("formula_trees")
    topic = catalog.load("topics").find("topic_id", text)
    if topic is not None:
        query = Query.of_topic(topic, store.find)
    else:
        formula = FormulaInstance("q", "", "query", text)
        query = Query("query", formula=formula, trees=store.find(formula))
    matches: Sequence[Any] = explain(query, found, system)
    return matches


class _Project:
    """What an index was made with."""

    def __init__(self, env: str | None, data_root: str | None) -> None:
        self.catalog: Any = open_catalog(env, data_root)
        if not self.catalog["mathamr_plus.index"].exists():
            raise MissingInputError(
                complete_commands(
                    "No index to search; run `kedro run` first, or its stage `kedro "
                    "run --pipelines indexing` if the others are done",
                    env,
                    data_root,
                )
            )
        self.index: BuiltIndex = self.catalog.load("mathamr_plus.index")
        encoder: Encoder = self.catalog.load("mathamr_plus.model")
        self.indexing = IndexingConfig.read(self.catalog.load("params:indexing"))
        self.encoder = Encoder(encoder.folder, self.indexing.encoding.compute)
        if encoder.checksum != self.index.counts["encoder"]:
            raise ConfigurationError(
                complete_commands(
                    f"Expected an index of the present encoder {encoder.checksum!r} "
                    f"(got one of {self.index.counts['encoder']!r}); run `kedro run "
                    "--pipelines indexing`",
                    env,
                    data_root,
                )
            )
        self._check_environment(env or os.environ.get("KEDRO_ENV"))
        self.live = _LiveIndexes(self.catalog)
        self._indexed: set[str] = set()

    def _check_environment(self, env: str | None) -> None:
        """Refuse the index of another environment that trains its encoder otherwise.

        Several may share a data root, in which the last run replaced the index.
        """
        made = read_environment(self.catalog)
        if env is None or made.get("env", env) == env:
            return
        # Loaded here: most searches are of the environment that made the index.
        from mathamr_kedro.learning.stage import (  # noqa: PLC0415
            TrainingStageConfig,
        )

        config = TrainingStageConfig.read(self.catalog.load("params:training"))
        trained = self.encoder.system.config.training
        if config.describe_result() == trained.describe_result():
            return
        other = f"--env {made['env']}" if made["env"] else "the default environment"
        raise ConfigurationError(
            f"The index here was made by {other}, with another encoder than that of "
            f"--env {env}; search it with {other}, or run `kedro run --env {env}` "
            "first, or give each a data root (`kedro run --params data_root=FOLDER`)"
        )

    @cached_property
    def parsing(self) -> AmrParsingConfig:
        """How queries are parsed: by the parser of the graphs that are searched."""
        config = AmrParsingConfig.read(self.catalog.load("params:amr_parsing"))
        return config.resolve(self.catalog.load("amr_parser"))

    @cached_property
    def vectors(self) -> MathAMRPlusIndex:
        """The index of MathAMR+ with all strategies that can be asked."""
        strategy = self.indexing.strategy
        strategies: dict[str, Strategy] = list_search_strategies(strategy)
        for name, other in self.evaluation.list_strategies(strategy).items():
            strategies |= {name: other, other.name: other}
        values = list_systems(self.catalog.load("parameters"), strategies)[OWN]
        opened = self.index.open(read_system(OWN, values))
        assert isinstance(opened, MathAMRPlusIndex)
        opened.use_encoder(self.query_encoder)
        self.live.add(OWN, opened)
        return opened

    def open_systems(
        self,
        system: str | None,
        fuse_with: Sequence[str],
        finds: Target,
    ) -> Ensemble:
        """Return all systems that were indexed, to be asked by their names."""
        evaluation, config = self.evaluation, self.indexing.search
        learning = self.catalog.load("parameters").get("systems") or {}
        rankings = self._list_rankings(OWN, "strategy", lambda: self.vectors)
        for name in (*learning, *BASELINES):
            if self.catalog[f"{name}.index"].exists():
                kind = "system" if name in learning else "baseline"
                self._indexed.add(name)
                open_index = partial(self.live.open, name)
                rankings += self._list_rankings(name, kind, open_index)
        defaults: dict[Target, str] = {
            "posts": config.system,
            "formulas": config.formula_system,
        }
        fusions = [config.fusion, config.fuse_patterns(OWN), *evaluation.fusions]
        defaults[finds] = system or defaults[finds]
        if fuse_with:
            parts = (defaults[finds], *fuse_with)
            defaults[finds] = "+".join(parts)
            fusions.append(Fusion("mean", name=defaults[finds], of=parts))
        return Ensemble(rankings, fusions, defaults)

    def open_words(self) -> Bm25Index | None:
        """Return the index of words that searches ask by default."""
        names = [n for n in self.indexing.search.fusion.of if n in self._indexed]
        opened = self.live.open(names[0]) if names else None
        return opened if isinstance(opened, Bm25Index) else None

    def _list_rankings(
        self, name: str, kind: str, open_index: Callable[[], Index]
    ) -> list[Ranking]:
        """Return the rankings of a system that was indexed."""
        index = self.vectors if name == OWN else self.catalog.load(f"{name}.index")
        targets: dict[str, set[Target]] = {}
        for target in get_args(Target):
            for ranking in index.list_rankings(target):
                targets.setdefault(ranking, set()).add(target)
        depth = self.evaluation.depth
        return [
            Ranking(ranking, kind, frozenset(finds), open_index, depth)
            for ranking, finds in targets.items()
        ]

    @cached_property
    def evaluation(self) -> EvaluationConfig:
        return EvaluationConfig.read(self.catalog.load("params:evaluation"))

    def find_topic(self, text: str) -> Query | None:
        """Return a topic as a query; that of Task 2 has only its formula's vector.

        Raises:
            MissingInputError: it is the id of no topic, or of one without vectors.
        """
        if not _TOPIC_ID.fullmatch(text):
            return None
        topic = self.catalog.load("topics").find("topic_id", text)
        store = self.vectors.topics
        if topic is None or store is None or text not in store.places:
            known = sorted(store.places if store is not None else ())
            raise MissingInputError(
                f"Expected the id of a topic with vectors (got {text!r})"
                f"{suggest(text, known)}; the index has {len(known)} topics, from "
                f"{', '.join(known[:1]) or 'none'} to {', '.join(known[-1:]) or 'none'}"
            )
        (entry,) = store.read([text]).entries()
        if TARGET_OF.get(topic.task) == "formulas":
            entry = _choose_formula(entry, topic)
        mentions = tuple(  # what is asked for has its LaTeX in the topic, too
            m._replace(latex=topic.latex or m.latex)
            if m.formula_id == topic.formula_id
            else m
            for m in topic.formula_map
        )
        read_graph = partial(self.find_graph, text)
        query = Query.of_topic(topic, self.trees.find, read_graph)
        return replace(query, formula_map=mentions, entry=entry)

    def find_graph(self, key: str) -> MathGraph | None:
        for name in ("math_graphs", "topic_math_graphs"):
            if (found := self.catalog.load(name).find(key)) is not None:
                return found.graph
        return None

    def find_instances(
        self, ids: Collection[FormulaId]
    ) -> Mapping[FormulaId, FormulaInstance]:
        rows = self.catalog.load("returnable_formulas").select("formula_id", ids)
        return {row.formula_id: row for row in rows}

    @cached_property
    def trees(self) -> TreeStore:
        """Of formulas, by their visual ids."""
        store: TreeStore = self.catalog.load("formula_trees")
        return store

    def load_optional(self, name: str) -> Any:
        """Return a table; environments of an earlier version may have none."""
        return self.catalog.load(name) if self.catalog[name].exists() else None

    @cached_property
    def query_encoder(self) -> QueryEncoder:
        """The encoder of queries."""
        trees = StoredTrees(self.trees.path)
        parse = ParseTexts(self.parsing.parser_settings)
        parse.prepare()
        encoder = self.encoder
        return QueryEncoder(
            parse.parse,
            trees,
            encoder.graphs.vocabularies,
            encoder.graphs.variant,
            encoder.network,
            self._load_text_model() if encoder.config.text_dim else None,
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


class _LiveIndexes:
    """The indexes of systems, opened when they are first asked, and kept up to date.

    A server may search them in one thread while another one loads them.
    """

    def __init__(self, catalog: Any) -> None:
        self._catalog, self._lock = catalog, RLock()
        self._store: ChangeStore = catalog.load("changes")
        # The version comes first: what is changed in between is taken a second time.
        self._version = self._store.read_version()
        self.changes = self._store.read()
        """What was changed since indexing, as all indexes know it."""
        self._opened: dict[str, Index] = {}
        self._built = {"posts": self._identify("posts")}

    def open(self, name: str) -> Index:
        """Return the index of a system."""
        with self._lock:
            if name not in self._opened:
                self.add(name, self._catalog.load(f"{name}.index").open())
            return self._opened[name]

    def add(self, name: str, index: Index) -> None:
        """Keep the index of a system up to date."""
        with self._lock:
            index.update(self.changes)
            self._opened[name] = index
            self._built[f"{name}.index"] = self._identify(f"{name}.index")

    def catch_up(self) -> bool:
        """Take what was changed since; ``False``: the stages have run again.

        Raises:
            DamagedFileError: the changes are.
        """
        with self._lock:
            if any(self._identify(n) != found for n, found in self._built.items()):
                return False
            version = self._store.read_version()
            if version != self._version:
                changes = self._store.read()
                for index in self._opened.values():
                    index.update(changes)
                self._version, self.changes = version, changes
            return True

    def _identify(self, name: str) -> Any:
        """Return what tells a dataset from those of other runs; none if it is gone."""
        try:
            found = self._catalog[name].load()
        except DatasetError:
            return None
        return found.checksum if name == "posts" else found.folder


def _choose_formula(entry: PostEntry, topic: Topic) -> PostEntry:
    """Return only the node of a topic's query formula."""
    asked = topic.formula_id or ""
    vector = entry.formula(asked)
    (mention,) = [m for m in topic.formula_map if m.formula_id == asked][:1]
    number = read_placeholder(mention.placeholder) or 0
    return PostEntry(
        entry.key, entry.post_type, vector[None], [FORMULA], [number], [asked],
        [mention.visual_id],
    )  # fmt: skip
