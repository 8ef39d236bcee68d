"""A training step of SSEmb, and only its graph network, against PyG in the same run.

    python -m benchmarks.ssemb --prepared FOLDER/prepared            # CPU
    python -m benchmarks.ssemb --prepared FOLDER/prepared --device cuda --batch 2560

``FOLDER`` is one below ``06_models/systems/ssemb`` of a run. The other side has PyG's
``GINConv`` and ``global_add_pool`` with the same weights; views and loss are the same
code. A step is: batch, both views, network, head, InfoNCE, backward pass, Adam. On a
CPU times are CPU time of one thread; on a GPU wall time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch_geometric.nn import GINConv, global_add_pool

from mathamr_kedro.base.machines import Machine
from mathamr_kedro.systems.ssemb.config import StructureConfig
from mathamr_kedro.systems.ssemb.graphs import GraphBatch
from mathamr_kedro.systems.ssemb.network import StructureEncoder
from mathamr_kedro.systems.ssemb.training import Batch, StructureTraining


class PygEncoder(StructureEncoder):
    """The same network, its sums over neighbours and nodes by PyG."""

    def __init__(self, model: StructureEncoder, dimension: int) -> None:
        super().__init__(dimension, model.embedding.num_embeddings)
        self._convs = [GINConv(layer.mlp, train_eps=True) for layer in self.layers]
        self.load_state_dict(model.state_dict())  # PyG draws other weights
        for conv, layer in zip(self._convs, self.layers, strict=True):
            conv.eps = layer.epsilon

    def forward(self, batch: GraphBatch) -> Tensor:
        """(G, k) vectors h of the graphs."""
        edges = torch.cat([batch.edges, batch.edges.flip(0)], dim=1)
        x, graph_of, sums = self.embedding(batch.labels), batch.graph_of, []
        for conv, layer in zip(self._convs, self.layers, strict=True):
            x = layer.norm(torch.relu(conv(x, edges)))
            sums.append(global_add_pool(x, graph_of, len(batch.ptr) - 1))
        return torch.cat(sums, dim=1)


def measure(work: Callable[[int], object], device: torch.device, times: int) -> float:
    """Return the median of milliseconds."""
    found = []
    for number in range(times + 2):
        if device.type == "cuda":
            torch.cuda.synchronize()
        clock = time.perf_counter if device.type == "cuda" else time.process_time
        started = clock()
        work(number)
        if device.type == "cuda":
            torch.cuda.synchronize()
        found.append(1000 * (clock() - started))
    return float(np.median(found[2:]))


def measure_side(by_pyg: bool, args: argparse.Namespace) -> tuple[float, float, str]:
    """Return milliseconds of a step and of the network, and what was computed."""
    config, device = StructureConfig(batch_size=args.batch), torch.device(args.device)
    training = StructureTraining(config, args.prepared, seed=1)
    training.device = device
    if by_pyg:
        training.network = PygEncoder(training.network, config.dimension)
    training.network = training.network.to(device).train()
    optimizer = torch.optim.Adam(training.network.parameters(), lr=1e-4)
    chosen = np.arange(min(args.batch, len(training.table)))
    batch = training.table.take(chosen).to(device)

    def take_step(number: int) -> None:
        optimizer.zero_grad()
        training.compute(Batch(chosen, number))[0].backward()
        optimizer.step()

    step = measure(take_step, device, args.times)
    network = measure(
        lambda n: training.network(batch).sum().backward(), device, args.times
    )
    return step, network, f"{len(chosen)} graphs, {len(batch.labels):,} nodes"


def main() -> None:
    """Measure both, and print what each takes and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    args = parser.parse_args()
    torch.set_num_threads(1)
    ours, theirs = (measure_side(by_pyg, args) for by_pyg in (False, True))
    print(f"{Machine.find(args.device).name}; batch of {ours[2]}")
    for what, a, b in zip(("training step", "network"), ours, theirs, strict=False):
        print(f"{what}: ours {a:.1f} ms, PyG {b:.1f} ms ({b / a:.2f} times)")


if __name__ == "__main__":
    main()
