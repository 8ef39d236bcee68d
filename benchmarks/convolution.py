"""One relational layer, forward and backward: our backends against PyG's layers.

    python -m benchmarks.convolution [--device cuda]
    python -m benchmarks.convolution --check [--device cuda]
    python -m benchmarks.convolution --check --prepared PREPARED        # real graphs

``--check`` compares with float64: single layers, fused layers and MaxSim with our
reference loop, and every gradient of a training step with PyG's ``RGCNConv``; and it
repeats each three times bit by bit. It needs no time limits, so it also serves as the
test of the Triton kernels on a machine with a GPU. Real graphs come with their training
pairs. A fresh model gives real posts almost equal vectors, so that mere rounding moves
gradients by more than it does on random graphs: what PyG's layers in float32 are off by
is printed, and where that is near the limit, the limit is 1.5 times as much.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch_geometric.nn import FastRGCNConv, RGCNConv

from benchmarks import graph_source
from benchmarks.pyg_twin import PygBackend, PygTwin
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.graph import (
    BatchSize,
    DeviceShards,
    GraphBatch,
    GraphShards,
    PreparedGraphs,
)
from mathamr_kedro.learning.augmentation import AugmentationConfig, augment
from mathamr_kedro.learning.losses import ContrastiveLoss, LossConfig
from mathamr_kedro.learning.steps import split_pairs
from mathamr_kedro.model.backends import choose_backend
from mathamr_kedro.model.config import ComputeConfig, ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.maxsim import maxsim, padded_maxsim

MOST_NODES = 150
LIMITS = {"fp32": 2e-6, "tf32": 5e-3, "bf16": 2e-2}
FAILURES: list[str] = []


def relative(mine: Tensor, truth: Tensor) -> float:
    """Norm of the difference over the norm of the truth."""
    truth = truth.double().cpu()
    return ((mine.double().cpu() - truth).norm() / truth.norm()).item()


def report(name: str, error: float, limit: float, repeats: bool) -> None:
    """Print one check."""
    good = error <= limit and repeats
    print(
        f"{name:<46}{error:>10.1e}{limit:>10.1e}  "
        f"{'repeats' if repeats else 'DIFFERS'}  {'ok' if good else 'FAILED'}",
        flush=True,
    )
    if not good:
        FAILURES.append(name)


def run_three_times(
    compute: Callable[[], list[Tensor]],
) -> tuple[list[Tensor], bool]:
    """The result, and whether two more computations give the same bits."""
    first, *others = (compute() for _ in range(3))
    same = all(torch.equal(a, b) for o in others for a, b in zip(first, o, strict=True))
    return first, same


def pad_batch(shards: GraphShards, ids: np.ndarray, device: str) -> GraphBatch:
    """The batch as buckets make it: of fixed size, with spare entries."""
    sizes = shards.measure(ids[None])[0]
    room = BatchSize(*(int(s * 1.2) + 70 for s in sizes))
    on_device = DeviceShards(shards, torch.device(device))
    return on_device.assemble(torch.from_numpy(ids).to(device), room)


def check_layer(shards: GraphShards, device: str, precision: str) -> None:
    """One convolution with edge attributes and dropped edges."""
    ids = np.arange(6)
    batch = shards.assemble(ids)
    n, r, d = batch.num_nodes, shards.schema.num_relations, 64
    torch.manual_seed(0)
    shapes = ((n, d), (r, d, d), (d, d), (d,), (r, d))
    layer = [torch.randn(s, dtype=torch.float64) / s[-1] ** 0.5 for s in shapes]
    grad = torch.randn(n, d, dtype=torch.float64)
    key = torch.tensor(5)
    _, keep = augment(batch, AugmentationConfig(), key)

    def run(name: str, dtype: torch.dtype, where: str) -> list[Tensor]:
        backend = choose_backend(name, precision, torch.device(where), d)
        mine = [t.to(where, dtype).requires_grad_() for t in layer]
        kept = None if keep is None else keep.to(where)
        out = backend.convolve(*mine, backend.prepare(batch.to(where), kept))
        return [out, *torch.autograd.grad(out, mine, grad.to(where, dtype))]

    truth = run("reference", torch.float64, "cpu")
    mine, same = run_three_times(lambda: run("auto", torch.float32, device))
    error = max(relative(a, b) for a, b in zip(mine, truth, strict=True))
    report(f"layer with gradients, {precision}", error, LIMITS[precision], same)


@cache
def reference_model(shards: GraphShards) -> tuple[MathAMRPlus, MathAMRPlus, Tensor]:
    """A model, its float64 twin after a backward pass, and the vectors of the twin."""
    torch.manual_seed(0)
    model = MathAMRPlus(ModelConfig(num_bases=16), shards.schema)
    for p in (model.encoder.norm_weight, model.encoder.norm_bias, model.encoder.bias):
        torch.nn.init.normal_(p, std=0.5)
    twin = copy.deepcopy(model).double()
    twin.set_compute(ComputeConfig(backend="reference"))
    truth = twin(shards.assemble(np.arange(6)))
    truth.backward(_gradient(truth))
    return model, twin, truth.detach()


def _gradient(like: Tensor) -> Tensor:
    torch.manual_seed(3)
    return torch.randn(like.shape, dtype=torch.float64)


def check_model(shards: GraphShards, device: str, precision: str, padded: bool) -> None:
    """All layers and the head, with every option that the kernels know."""
    ids = np.arange(6)
    start, twin, truth = reference_model(shards)
    model = copy.deepcopy(start).to(device)
    model.set_compute(ComputeConfig(precision=precision))
    plain = shards.assemble(ids)
    batch = pad_batch(shards, ids, device) if padded else plain.to(device)

    def run() -> list[Tensor]:
        model.zero_grad()
        out = model(batch)[: len(truth)]
        out.backward(_gradient(truth).to(device, torch.float32))
        return [out.detach(), *(p.grad.clone() for p in model.parameters())]

    mine, same = run_three_times(run)
    expected = [truth, *(p.grad for p in twin.parameters())]
    error = max(relative(a, b) for a, b in zip(mine, expected, strict=True))
    name = f"four layers, {precision}{', with spare entries' if padded else ''}"
    report(name, error, LIMITS[precision], same)


def check_maxsim(device: str, precision: str) -> None:
    """Ragged MaxSim against its padded twin."""
    torch.manual_seed(0)

    def draw(posts: int, width: int = 32) -> RaggedVectors:
        ptr = torch.nn.functional.pad(torch.randint(1, 60, (posts,)).cumsum(0), (1, 0))
        vectors = torch.randn(int(ptr[-1]) + 9, width, dtype=torch.float64)
        unit = torch.nn.functional.normalize(vectors, dim=1)
        return RaggedVectors(unit, ptr.int())

    queries, documents = draw(40), draw(70)
    grad = torch.randn(40, 70, dtype=torch.float64)

    def run(dtype: torch.dtype, where: str) -> list[Tensor]:
        q, d = (
            RaggedVectors(p.vectors.to(where, dtype).requires_grad_(), p.ptr.to(where))
            for p in (queries, documents)
        )
        score = padded_maxsim if dtype == torch.float64 else maxsim
        args = () if dtype == torch.float64 else (precision,)
        out = score(q, d, *args)
        inputs = [q.vectors, d.vectors]
        return [out, *torch.autograd.grad(out, inputs, grad.to(where, dtype))]

    truth = run(torch.float64, "cpu")
    mine, same = run_three_times(lambda: run(torch.float32, device))
    # Rounding may turn a near tie of two partners, which moves a whole gradient.
    error = relative(mine[0], truth[0])
    report(f"MaxSim scores, {precision}", error, LIMITS[precision], same)
    error = max(relative(a, b) for a, b in zip(mine[1:], truth[1:], strict=True))
    limit = 2e-6 if precision == "fp32" else 5e-2
    report(f"MaxSim gradients, {precision}", error, limit, same)


class PygStep(NamedTuple):
    """A training step by PyG."""

    model: MathAMRPlus
    batch: GraphBatch
    pairs: int
    loss: float
    gradients: dict[str, Tensor]
    """In float64."""
    worst: float
    """Largest error of a gradient when PyG computes in float32."""


def choose_pairs(shards: GraphShards, prepared: Path | None) -> np.ndarray:
    """Positions of 8 questions and their answers; of any graphs where none belong.

    Large graphs are passed over: RGCNConv keeps states of all nodes for each relation.
    """
    if prepared is None:
        return np.arange(16)
    pairs = PreparedGraphs(prepared).train_pairs
    nodes = np.diff(shards.offsets["node"])[pairs]
    return np.concatenate(pairs[(nodes <= MOST_NODES).all(1)][:8].T)


@cache
def pyg_step(shards: GraphShards, prepared: Path | None) -> PygStep:
    """Compute loss and gradients of a step by PyG in float64, and once in float32."""
    torch.manual_seed(0)
    model = MathAMRPlus(ModelConfig(edge_attributes=False), shards.schema)
    ids = choose_pairs(shards, prepared)
    batch = shards.assemble(ids)
    found = {}
    for dtype in (torch.float32, torch.float64):
        twin = PygTwin(copy.deepcopy(model), "rgcn").to(dtype)
        loss = ContrastiveLoss(LossConfig(beta=0.3)).to(dtype)
        value = loss(*split_pairs(batch, twin(batch), len(ids) // 2)).loss
        value.backward()
        found[dtype] = value.item(), twin.stacked_gradients()
    truth, expected = found[torch.float64]
    rounded = found[torch.float32][1]
    worst = max(relative(rounded[n], g) for n, g in expected.items())
    return PygStep(model, batch, len(ids) // 2, truth, expected, worst)


def check_step(
    shards: GraphShards, prepared: Path | None, device: str, precision: str
) -> None:
    """Loss and gradients of a training step against PyG's RGCNConv in float64."""
    known = pyg_step(shards, prepared)
    model = copy.deepcopy(known.model).to(device)
    model.set_compute(ComputeConfig(precision=precision))
    loss = ContrastiveLoss(LossConfig(beta=0.3), precision).to(device)
    batch = known.batch.to(device)

    def run() -> list[Tensor]:
        model.zero_grad()
        value = loss(*split_pairs(batch, model(batch), known.pairs)).loss
        value.backward()
        grads = dict(model.named_parameters())
        return [value.detach(), *(grads[n].grad.clone() for n in known.gradients)]

    (value, *mine), same = run_three_times(run)
    error = abs(value.item() - known.loss) / known.loss
    report(f"loss against RGCNConv, {precision}", error, LIMITS[precision], same)
    pairs = zip(known.gradients, mine, strict=True)
    errors = {name: relative(grad, known.gradients[name]) for name, grad in pairs}
    worst = max(errors, key=errors.__getitem__)
    name = f"gradients against RGCNConv, {precision} ({worst.split('.')[-1]})"
    harder = max(1.0, 1.5 * known.worst / LIMITS["fp32"])
    report(name, errors[worst], LIMITS[precision] * harder, same)
    if precision == "fp32":
        print(f"{'  (PyG itself in float32)':<46}{known.worst:>10.1e}")


def check(shards: GraphShards, prepared: Path | None, device: str) -> None:
    """Run all checks; ends the process with an error if one fails."""
    precisions = ("fp32", "tf32", "bf16") if device == "cuda" else ("fp32", "bf16")
    print(f"{'check':<46}{'error':>10}{'limit':>10}")
    for precision in precisions:
        check_layer(shards, device, precision)
        check_model(shards, device, precision, padded=False)
        if device == "cuda":
            check_model(shards, device, precision, padded=True)
        check_maxsim(device, precision)
        check_step(shards, prepared, device, precision)
    if FAILURES:
        sys.exit(f"{len(FAILURES)} checks failed: {'; '.join(FAILURES)}")


def measure(compute: Callable[[], object], device: str) -> float:
    """Milliseconds of one computation: CPU time, or wall time on a GPU."""
    compute()
    clock = time.process_time if device == "cpu" else time.perf_counter
    repeats = 3 if device == "cpu" else 20
    if device == "cuda":
        torch.cuda.synchronize()
    started = clock()
    for _ in range(repeats):
        compute()
    if device == "cuda":
        torch.cuda.synchronize()
    return (clock() - started) / repeats * 1e3


def compare_speed(shards: GraphShards, args: argparse.Namespace) -> None:
    """Print milliseconds of a layer with 64 bases for each way to compute it."""
    device, d, bases = args.device, 64, 64
    ids = np.random.default_rng(0).choice(len(shards), 2 * args.pairs)
    batch = shards.assemble(ids).to(device)
    n, r = batch.num_nodes, shards.schema.num_relations
    torch.manual_seed(0)
    x = torch.randn(n, d, device=device, requires_grad=True)
    grad = torch.randn(n, d, device=device)
    theirs = {
        "PyG FastRGCNConv": FastRGCNConv(d, d, r, num_bases=bases).to(device),
        "PyG RGCNConv": RGCNConv(d, d, r, num_bases=bases).to(device),
    }
    conv = theirs["PyG FastRGCNConv"]
    graph = PygBackend().prepare(batch)
    print(f"{args.pairs} pairs, {n:,} nodes, {len(graph[1]):,} directed edges")
    names = ["torch"] if device == "cpu" else ["torch", "triton"]
    for name in names:
        backend = choose_backend(name, "fp32", torch.device(device), d)
        prepared = backend.prepare(batch)

        def ours(backend=backend, prepared=prepared) -> None:
            weight = (conv.comp @ conv.weight.flatten(1)).view(r, d, d)
            out = backend.convolve(x, weight, conv.root, conv.bias, None, prepared)
            out.backward(grad)

        print(f"{f'ours, {name}':<24}{measure(ours, device):>10.2f} ms", flush=True)
    for name, layer in theirs.items():
        time_taken = measure(
            lambda layer=layer: layer(x, *graph).backward(grad), device
        )
        print(f"{name:<24}{time_taken:>10.2f} ms", flush=True)


def main() -> None:
    """Check or compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    graph_source.add_arguments(parser, graphs=400)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--pairs", type=int, default=32)
    parser.add_argument("--check", action="store_true", help="correctness, not speed")
    args = parser.parse_args()
    if args.device == "cpu":
        torch.set_num_threads(1)
    with graph_source.open_graphs(args) as shards:
        if args.check:
            check(shards, args.prepared, args.device)
        else:
            compare_speed(shards, args)


if __name__ == "__main__":
    main()
