"""``formula_rgcn``: encoding, training step and search, against PyG in the same run.

    python -m benchmarks.formula_rgcn                       # CPU, random trees
    python -m benchmarks.formula_rgcn --device cuda
    python -m benchmarks.formula_rgcn --prepared FOLDER/prepared      # real trees

``FOLDER`` is one below ``06_models/systems/formula_rgcn`` of a run. The other side has
PyG's ``RGCNConv`` in place of our convolution, with the same weights, and compares a
query with padded formulas by one product (search); the rest is the same code. A step
is: batch assembly, sub-expressions, both networks, the loss over six pairings, backward
pass, Adam. On a CPU times are CPU time of one thread; on a GPU wall time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch_geometric.nn import RGCNConv

from mathamr_kedro.base.machines import Machine
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.formula.node import SLT_EDGES, Node
from mathamr_kedro.graph import GraphBatch
from mathamr_kedro.systems.formula_rgcn.config import RgcnConfig
from mathamr_kedro.systems.formula_rgcn.forest import ForestBuilder, TreeVocabulary
from mathamr_kedro.systems.formula_rgcn.network import NodeEncoder
from mathamr_kedro.systems.formula_rgcn.training import PairTraining
from mathamr_kedro.vectors import ExactSpace

LABELS = 400
TREES = 2000
NODES = 30
"""Of a tree, on average; 29 and 34 in the pool of judged formulas."""


class PygEncoder(NodeEncoder):
    """The same network, with PyG's layers."""

    @classmethod
    def take_over(cls, encoder: NodeEncoder) -> PygEncoder:
        """Return a copy of a network that computes by PyG."""
        d = encoder.bias.shape[1]
        made = cls(d, encoder.vocabulary)
        made.load_state_dict(encoder.state_dict())
        relations, weights = encoder.vocabulary.schema.num_relations, encoder.weights()
        made.convs = nn.ModuleList(RGCNConv(d, d, relations) for _ in weights)
        with torch.no_grad():
            for number, layer in enumerate(made.convs):
                layer.weight.copy_(weights[number])
                layer.root.copy_(encoder.root[number])
                layer.bias.copy_(encoder.bias[number])
        return made.to(encoder.bias.device)

    def forward(self, batch: GraphBatch) -> Tensor:
        """(N, d) vectors of length 1."""
        number = batch.node_type.long()
        h = F.embedding(number, self.label_vectors)
        h = h + F.embedding(self.types.long()[number], self.type_vectors)
        source, target, relation = batch.list_edges()
        edges = torch.stack([source, target])
        for place, layer in enumerate(self.convs):
            h = layer(h, edges, relation)
            h = F.relu(h) if place < len(self.convs) - 1 else h
        return F.normalize(h, dim=1)


def draw_tree(random: np.random.Generator, kind: str) -> FormulaTree:
    """Draw a tree of about as many nodes as those of real formulas."""
    count = 1 + int(random.gamma(1.0, NODES))
    nodes = [
        Node(f"V!{int(random.zipf(1.3)) % LABELS}") for _ in range(min(count, 250))
    ]
    if kind == "slt":
        for child in nodes[1:]:
            while True:
                parent = nodes[int(random.integers(nodes.index(child)))]
                edge = SLT_EDGES[int(random.zipf(1.6)) % len(SLT_EDGES)]
                if edge not in parent.edges:
                    parent.edges[edge] = child
                    break
        return FormulaTree("slt", nodes[0])
    below: list[list[int]] = [[] for _ in nodes]
    for place in range(1, len(nodes)):
        below[(place - 1) // 2].append(place)
    for place in reversed(range(len(nodes))):
        children = [nodes[b] for b in below[place]]
        nodes[place] = Node.operator(nodes[place].label, children)
    return FormulaTree("opt", nodes[0])


def prepare(folder: Path) -> None:
    """Write random trees as the training stage writes real ones."""
    random = np.random.default_rng(0)
    for name, kind in (("slg", "slt"), ("opg", "opt")):
        builder = ForestBuilder()
        for _ in range(TREES):
            builder.add(draw_tree(random, kind))
        vocabulary = TreeVocabulary.count(builder.labels, builder.edges)
        builder.finish(vocabulary).save(folder, name)


def measure(run: Callable[[], object], device: str, repeats: int) -> float:
    """Seconds of one call: the least of some."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    run()
    found = []
    for _ in range(repeats):
        if device != "cpu":
            torch.cuda.synchronize()
        started = clock()
        run()
        if device != "cpu":
            torch.cuda.synchronize()
        found.append(clock() - started)
    return min(found)


def show(what: str, ours: float, theirs: float) -> None:
    """Print a row."""
    print(
        f"{what:<44}{1e3 * ours:>10.1f} ms{1e3 * theirs:>10.1f} ms"
        f"{theirs / ours:>9.1f} ×",
        flush=True,
    )


def compare_training(
    config: RgcnConfig, prepared: Path, device: str, repeats: int
) -> PairTraining:
    """Measure an encoder pass of each network, and the whole step."""
    sides = [PairTraining(config, prepared, 0) for _ in range(2)]
    ours, theirs = sides
    for kind, encoder in theirs.encoders.items():
        theirs.encoders[kind] = PygEncoder.take_over(encoder)
    optimizers = []
    for side in sides:
        side.device = torch.device(device)
        networks = nn.ModuleDict(side.encoders).to(device)
        optimizers.append(torch.optim.Adam(networks.parameters()))
    some = ours.draw_batches(0)[0]
    both = [side.compute(some)[0].item() for side in sides]
    if abs(both[0] - both[1]) > 1e-3 * max(1.0, abs(both[1])):
        raise SystemExit(f"the losses of both sides differ: {both}")
    for kind, forest in ours.forests.items():
        batch = forest.pair(some.rows, some.draws[0]).to(device)

        def run(
            side: PairTraining, kind: str = kind, batch: GraphBatch = batch
        ) -> None:
            side.encoders[kind](batch).square().sum().backward()

        times = [measure(lambda s=s: run(s), device, repeats) for s in sides]
        show(
            f"{kind} network, forward and backward ({batch.num_nodes:,} nodes)", *times
        )

    def take_step(side: PairTraining, optimizer: torch.optim.Optimizer) -> None:
        optimizer.zero_grad(set_to_none=True)
        side.compute(some)[0].backward()
        optimizer.step()

    times = [
        measure(lambda pair=pair: take_step(*pair), device, repeats)
        for pair in zip(sides, optimizers, strict=True)
    ]
    show(f"training step of {len(some.rows)} formulas", *times)
    epoch = times[0] * ours.count / len(some.rows)
    print(f"an epoch of {ours.count:,} formulas: {epoch:.1f} s")
    return theirs


def compare_search(theirs: PairTraining, device: str, repeats: int) -> None:
    """Measure a query over all operator graphs: encoding, and MaxSim."""
    forest, other = theirs.forests["opg"], theirs.encoders["opg"]
    mine = NodeEncoder(theirs.config.hidden_dim, other.vocabulary).to(device)
    mine.load_state_dict(other.state_dict(), strict=False)
    rows = np.arange(len(forest))
    parts = []
    with torch.inference_mode():
        for some in np.array_split(rows, max(1, len(rows) // 512)):
            batch = forest.assemble(some)
            vectors = mine(batch.to(device)).cpu().numpy()
            parts.append(RaggedVectors(vectors, batch.node_ptr.long().numpy()))
        space = ExactSpace(device)
        whole = RaggedVectors.join(parts)
        space.add(whole)
        padded, is_real = whole.to(device).padded()
        query = forest.assemble(rows[:1]).to(device)

        def name(numbers: np.ndarray) -> np.ndarray:
            return np.array([str(n) for n in numbers], dtype=object)

        def scan() -> object:
            vectors = mine(query).cpu().numpy()
            asked = RaggedVectors(vectors, np.array([0, len(vectors)]))
            return space.find(asked, 1000, name)

        def multiply() -> object:
            products = torch.einsum("qd,nld->nql", other(query), padded)
            products = products.masked_fill(~is_real[:, None], -torch.inf)
            return products.max(2).values.mean(1).topk(min(1000, len(rows)))

        times = [measure(run, device, repeats) for run in (scan, multiply)]
    show(f"a query over {len(rows):,} formulas", *times)


def main() -> None:
    """Measure both sides."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--prepared", type=Path)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    torch.set_num_threads(1)
    config = RgcnConfig(batch_size=args.batch)
    prepared = args.prepared
    if prepared is None:
        prepared = Path(tempfile.mkdtemp())
        prepare(prepared)
    print(Machine.find(args.device).name)
    print(f"{'':<44}{'ours':>13}{'PyG':>13}{'ratio':>11}")
    theirs = compare_training(config, prepared, args.device, args.repeats)
    compare_search(theirs, args.device, args.repeats)


if __name__ == "__main__":
    main()
