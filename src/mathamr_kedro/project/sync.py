"""Sync of an index with its folder: what changed in the files, and nothing else.

::

    folder ── ingestion, indexes of words ──▶ posts, statements, links: as `kedro run`
                                                │  those whose text or formulas differ
                                                ▼
                                    encoded, added to the index, or deleted from it

Reading all files takes seconds; to parse and encode their posts takes minutes. The next
``kedro run`` forgets what was synced: it reads the same folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.records import Post
from mathamr_kedro.corpus.own_files import list_shown
from mathamr_kedro.pipelines.amr_parsing.reuse import checksum_text
from mathamr_kedro.project.catalog import configure_kedro, find_project, open_catalog
from mathamr_kedro.project.search import open_updatable_index
from mathamr_kedro.systems.updates import Addition

_INDEX = "mathamr_plus.index"
_STAGES = (
    "ingestion", "amr_parsing", "graph_fusion", "preprocessing", "training", "indexing",
)  # fmt: skip
_INTERVAL = 1.0
"""Seconds between two looks at a folder."""


@dataclass(frozen=True)
class FolderSync:
    """A folder of files and the environment that indexes it.

    Args:
        folder: of the files.
        env: an environment of own files.
        data_root: another folder for what the stages write.
        unit: what a document is, if that is not the environment's.
    """

    folder: Path
    env: str | None = None
    data_root: str | None = None
    unit: str | None = None

    def run(self) -> Addition | None:
        """Make the index hold what the files say.

        Returns:
            What was changed; ``None``: there was no index, and all stages were run.

        Raises:
            ConfigurationError: the environment reads no files of one's own.
            LockedError: another process is changing the index.
        """
        catalog: Any = open_catalog(self.env, self.data_root)
        kind = catalog["collection"]._describe()["kind"]
        if kind != "own":
            raise ConfigurationError(
                f"Expected an environment of own files to sync (got a collection of "
                f"the kind {kind!r}): take `--env own`, or add single files with "
                "`mathamr index add FILE`"
            )
        if not catalog[_INDEX].exists():
            self._run_stages(*_STAGES)
            return None
        self._run_stages("ingestion", "indexing", only_words=True)
        posts = {post.post_id: post for post in catalog.load("posts").records()}
        indexed = {
            record.graph_id: (record.text_checksum, _list_latex(record))
            for record in catalog.load("amr_graphs").records()
        }

        def is_indexed(post: Post) -> bool:
            found = checksum_text(post.text), _list_latex(post)
            return indexed.get(post.post_id) == found

        return open_updatable_index(self.env, self.data_root).sync(posts, is_indexed)

    def watch(self) -> Iterator[Addition | None]:
        """Sync now, and again after each change of the folder, until interrupted."""
        while True:
            synced = before = _look_at(self.folder)
            yield self.run()
            # Up to a change, and until it is over.
            while (now := _look_at(self.folder)) == synced or now != before:
                before = now
                sleep(_INTERVAL)

    def _run_stages(self, *stages: str, only_words: bool = False) -> None:
        # Loaded here: a session imports every stage.
        from kedro.framework.project import pipelines  # noqa: PLC0415
        from kedro.framework.session import KedroSession  # noqa: PLC0415

        root = find_project()
        configure_kedro(root)
        named = {
            "raw_root": str(self.folder.resolve()),
            "data_root": self.data_root,
            "unit": self.unit,
        }
        given = {name: value for name, value in named.items() if value is not None}
        session = KedroSession.create(root, env=self.env, runtime_params=given)
        with session:
            nodes = None
            if only_words:
                session.load_context()  # its parameters decide which nodes there are
                known = pipelines["ingestion"].datasets()
                nodes = [node.name for node in pipelines["ingestion"].nodes]
                nodes += [
                    node.name
                    for node in pipelines["indexing"].nodes
                    if all(i in known or i.startswith("params:") for i in node.inputs)
                ]
            session.run(pipeline_names=list(stages), node_names=nodes)


def _list_latex(text: Any) -> tuple[str, ...]:
    return tuple(mention.latex for mention in text.formula_map)


def _look_at(folder: Path) -> Mapping[Path, tuple[int, int]]:
    """Return time and size of all files."""
    if not folder.is_dir():
        raise MissingInputError(f"Expected a folder at {str(folder)!r}; it is gone")
    found = {}
    for file in list_shown(folder):
        try:
            state = file.stat()
        except OSError:  # deleted meanwhile, or a link that leads nowhere
            continue
        found[file] = state.st_mtime_ns, state.st_size
    return found
