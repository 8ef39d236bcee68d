"""Prepared graphs as a dataset of PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from torch_geometric.data import Data, Dataset

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.graph import KIND_NAMES, PreparedGraphs, PreparedStore
from mathamr_kedro.integrations.pyg_data import to_pyg

_PREPARED = "05_model_input/prepared_graphs"


class MathGraphDataset(Dataset):
    """The fused graphs of posts or topics, read from the disk one by one.

    ``dataset[0]`` is a ``Data`` with node types in ``x``, relations in ``edge_type``,
    ``virtual`` for virtual nodes and ``representative`` for those whose vectors a post
    has. ``key`` is the id of the post; ``node_names`` and ``edge_names`` say what the
    numbers mean, and ``dataset.type_names`` and ``relation_names`` say it of all.

    Args:
        root: a folder of prepared graphs, or the data root of an environment that has
            prepared graphs once.
        part: ``posts``, ``topics`` or ``formulas``.
        transform: of PyG, applied to each graph.

    Raises:
        MissingInputError: there are no prepared graphs, or several.
    """

    def __init__(
        self,
        root: str | Path,
        part: str = "posts",
        transform: Callable[[Data], Data] | None = None,
    ) -> None:
        super().__init__(None, transform)
        self.prepared = _open_graphs(Path(root))
        self.shards = getattr(self.prepared, part)
        self.type_names = (*self.prepared.types.names, *KIND_NAMES)
        self.relation_names = self.prepared.relations.directed_roles

    def len(self) -> int:
        """Return the number of graphs."""
        return len(self.shards)

    def get(self, idx: int) -> Data:
        """Return one graph."""
        data = to_pyg(self.shards.graph(idx), self.shards.schema)
        data.key = self.shards.keys[idx]
        data.node_names = [self.type_names[n] for n in data.x.tolist()]
        data.edge_names = [self.relation_names[n] for n in data.edge_type.tolist()]
        return data


def _open_graphs(root: Path) -> PreparedGraphs:
    base = root / _PREPARED
    if not base.is_dir():
        return PreparedGraphs(root)
    found = PreparedStore(base).list()
    if len(found) != 1:
        names = [graphs.folder.name for graphs in found]
        raise MissingInputError(
            f"Expected one folder of prepared graphs in {str(base)!r} (got {names}); "
            "name one of them, or run the stage 'preprocessing'"
        )
    return found[0]
