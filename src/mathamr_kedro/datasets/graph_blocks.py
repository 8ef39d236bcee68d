"""A store of blocks of graphs: a folder of shards for each variant of the graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.shards import ShardFolder, ShardItem
from mathamr_kedro.graph import GraphBlock
from mathamr_kedro.graph.blocks import VERSION

SUFFIX = ".npz"


@dataclass(frozen=True)
class VariantShard:
    """A shard on its way to the folder of a variant."""

    variant: str
    """Key of the variant."""
    shard: ShardItem


class GraphBlocks:
    """Blocks by variant; nothing is read before it is asked for."""

    def __init__(self, base: Path) -> None:
        self._base = Path(base)
        # One object for a run: it measures the time between shards.
        self._folders: dict[str, ShardFolder] = {}

    def __repr__(self) -> str:
        folders = self.list()
        graphs = [count_nouns(f.total("written"), "graph") for f in folders]
        what = ", ".join(graphs) or "no graphs"
        what = f"{count_nouns(len(folders), 'variant')}: {what}"
        return f"<{type(self).__name__}: {what}, in {self._base}>"

    def save(self, data: VariantShard) -> None:
        """Write one block; answer a start, record the end."""
        self.folder(data.variant).save(data.shard, GraphBlock.save)

    def folder(self, variant: str) -> ShardFolder:
        """Return the shards of a variant, in the version that is read today."""
        path = self._base / f"{variant}-v{VERSION}"
        return self._folders.setdefault(variant, ShardFolder(path, SUFFIX))

    def blocks(self, variant: str) -> Iterator[GraphBlock]:
        """Yield the blocks of a variant, in order.

        Raises:
            MissingInputError: they are not all there.
        """
        folder = self.folder(variant)
        return (GraphBlock.load(folder.check(file)) for file in folder.files())

    def keys(self, variant: str) -> Iterator[str]:
        """Yield the keys of all graphs of a variant."""
        folder = self.folder(variant)
        for file in folder.files():
            yield from GraphBlock.load_keys(folder.check(file))

    def formula_ids(self, variant: str) -> Iterator[Sequence[str]]:
        """Yield the ids of the formulas of a variant, block by block."""
        return map(GraphBlock.load_formula_ids, self.folder(variant).files())

    def list(self) -> list[ShardFolder]:
        """Return the folders of all variants."""
        return [ShardFolder(f, SUFFIX) for f in sorted(self._base.glob("[!.]*/"))]
