"""Systems of other papers as datasets: what they read, and the folder of all models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.datasets.formula_trees import FormulaTreesDataset
from mathamr_kedro.datasets.penman_shards import PenmanShardsDataset
from mathamr_kedro.datasets.sharded_table import ShardedTableDataset
from mathamr_kedro.datasets.store_folder import StoreFolderDataset
from mathamr_kedro.formula import find_trees
from mathamr_kedro.systems import SystemFolder, SystemSources

_RECORDS = {
    "formulas": "FormulaInstance",
    "posts": "Post",
    "topics": "Topic",
    "judgments": "Judgment",
    "pairs": "TrainingPair",
}
_GRAPHS = ("graphs", "topic_graphs")
_TREES = "trees_of"


class SystemSourcesDataset(AbstractDataset[Mapping[str, str], SystemSources]):
    """All that systems read of a collection; nothing is opened before it is asked for.

    Example of a catalog entry::

        system_sources:
          type: mathamr_kedro.datasets.systems.SystemSourcesDataset
          filepath: data
          folders: {posts: 02_intermediate/posts, ...}

    Args:
        filepath: the folder of all data.
        folders: where the parts of :class:`~mathamr_kedro.systems.SystemSources` lie
            below it.
        metadata: for Kedro-Viz.
    """

    def __init__(
        self,
        *,
        filepath: str,
        folders: Mapping[str, str],
        metadata: dict[str, Any] | None = None,
    ) -> None:
        known = {*_RECORDS, *_GRAPHS, _TREES}
        if {*folders} != known:
            raise ConfigurationError(
                f"Expected the folders of {', '.join(sorted(known))} (got "
                f"{', '.join(sorted(folders))}) (conf/<env>/catalog)"
            )
        root = Path(filepath)
        self._folders = {part: str(root / folder) for part, folder in folders.items()}
        self.metadata = metadata

    def load(self) -> SystemSources:
        """Return the parts, unread."""
        opened = self._open()
        readers: dict[str, Callable[[], Any]] = {
            part: _read(dataset) for part, dataset in opened.items() if part != _TREES
        }
        topics = readers.pop("topics")
        return SystemSources(
            **readers,
            topics=lambda: list(topics()),
            trees_of=_find_trees(opened[_TREES]),
            checksums={part: _identify(opened[part]) for part in opened},
        )

    def save(self, data: Mapping[str, str]) -> None:
        """Write nothing: other datasets wrote the parts. Check that these are they.

        Args:
            data: what each part was made from.
        """
        opened = self._open()
        for part, made_from in data.items():
            if opened[part].exists() and opened[part].load().made_from == made_from:
                continue
            raise ConfigurationError(
                f"Expected in {self._folders[part]!r} what the pipeline made ({part!r} "
                "of system_sources differs); name the same folder in conf/<env>/catalog"
            )

    def _open(self) -> dict[str, AbstractDataset[Any, Any]]:
        folders = self._folders
        opened: dict[str, AbstractDataset[Any, Any]] = {
            _TREES: FormulaTreesDataset(filepath=folders[_TREES])
        }
        for part, record in _RECORDS.items():
            opened[part] = ShardedTableDataset(filepath=folders[part], record=record)
        for part in _GRAPHS:
            opened[part] = PenmanShardsDataset(filepath=folders[part])
        return opened

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"folders": self._folders}


def _identify(dataset: AbstractDataset[Any, Any]) -> str:
    """Return what stands for the rows; empty where they are not there."""
    if not dataset.exists():
        return ""
    loaded = dataset.load()
    found = getattr(loaded, "checksum", None)
    return str(loaded.made_from if found is None else found)


def _read(dataset: AbstractDataset[Any, Any]) -> Callable[[], Any]:
    return lambda: dataset.load().records()


def _find_trees(dataset: AbstractDataset[Any, Any]) -> Callable[[Any], Any]:
    opened: list[Any] = []

    def find(formula: Any) -> Any:
        if not opened:
            opened.append(dataset.load())
        return find_trees(opened[0], formula.visual_id, formula.latex)

    return find


class SystemStore:
    """All trainings of systems below one folder."""

    def __init__(self, base: Path) -> None:
        self.base = Path(base)

    def __repr__(self) -> str:
        trained = len(list(self.base.glob("*/*/history.json")))
        what = count_nouns(trained, "trained system")
        return f"<{type(self).__name__}: {what}, in {self.base}>"

    def prepare(
        self, name: str, values: Mapping[str, Any], seed: int, sources: SystemSources
    ) -> str:
        """Prepare a training, or find one that is; return the name of its folder."""
        made = SystemFolder.create(self.base, name, values, seed, sources)
        return made.folder.relative_to(self.base).as_posix()

    def open(self, folder: str) -> SystemFolder:
        """Return a training that was prepared."""
        return SystemFolder(self.base / folder)


class SystemsDataset(StoreFolderDataset[SystemStore]):
    """The folder of all trained systems; trainings write below it themselves."""

    STORE = SystemStore
