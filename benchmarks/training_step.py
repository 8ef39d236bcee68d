"""Full training steps, against the same model on PyG's FastRGCNConv in the same run.

    python -m benchmarks.training_step                      # CPU, batch 32
    python -m benchmarks.training_step --device cuda        # the GPU rows of the table
    python -m benchmarks.training_step --device cuda --phases --rows ROW ...

A step is: batch assembly, node masking, edge dropout, planning, encoder, MaxSim and
document loss (beta 0.3), backward pass, clipping, AdamW. On a CPU times are CPU time
of one thread, so that other programs do not count; on a GPU they are wall time.
Memory is the largest allocated and the largest reserved on the GPU while steps repeat,
graphs included (the pool of a CUDA graph counts only as reserved); "at start" is the
largest reserved before that, while steps were compiled and captured. Edge attributes
are off unless asked for, since PyG's convolutions have none. ``--phases`` prints the
time of assembly, forward pass, loss, backward pass and update behind each row, each
phase a CUDA graph of its own.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from benchmarks import graph_source
from benchmarks.pyg_twin import PygTwin
from mathamr_kedro.graph import DeviceShards, GraphShards
from mathamr_kedro.learning.augmentation import AugmentationConfig, step_key
from mathamr_kedro.learning.losses import ContrastiveLoss, LossConfig
from mathamr_kedro.learning.steps import (
    Buckets,
    OptimizerConfig,
    ResidentSteps,
    TrainingStep,
    split_pairs,
)
from mathamr_kedro.model.config import ComputeConfig, ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus

EPOCH = 491_074
"""Training pairs of the thesis: 90 % of 545,638."""
LOSS = LossConfig(beta=0.3)
RATES = OptimizerConfig(learning_rate=5e-4)


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    system: str
    pairs: int
    bases: int
    precision: str = "fp32"
    steps: int = 20


def build_model(case: Case, shards: GraphShards, args: argparse.Namespace):
    """The model of a case with seeded weights, on the CPU."""
    torch.manual_seed(0)
    config = ModelConfig(num_bases=case.bases, edge_attributes=args.edge_attributes)
    return MathAMRPlus(config, shards.schema)


def draw_batches(case: Case, shards: GraphShards) -> np.ndarray:
    """(steps, 2 pairs) random positions."""
    rng = np.random.default_rng(0)
    count = 2 * case.pairs
    replace = count > len(shards)
    return np.stack(
        [rng.choice(len(shards), count, replace=replace) for _ in range(case.steps)]
    )


def make_step(model: MathAMRPlus, precision: str) -> TrainingStep:
    """A training step with the settings of Table 4.18."""
    loss = ContrastiveLoss(LOSS, precision).to(model.head.inner.weight.device)
    return TrainingStep(model, loss, RATES, AugmentationConfig())


def prepare_eager(case: Case, shards: GraphShards, args) -> Callable[[int], None]:
    """Steps launched kernel by kernel, from the host's shards."""
    model = build_model(case, shards, args)
    if case.system in ("fast", "rgcn"):
        model = PygTwin(model, case.system)
        model.to(args.device)
    else:
        model.to(args.device)
        model.set_compute(ComputeConfig(precision=case.precision))
    step = make_step(model, case.precision)
    batches = draw_batches(case, shards)

    def run(i: int) -> None:
        batch = shards.assemble(batches[i]).to(args.device)
        step.run(batch, step_key(0, i), case.pairs)

    return run


def prepare_captured(case: Case, shards: GraphShards, args) -> Callable[[int], None]:
    """Steps as CUDA graphs, from shards on the GPU."""
    model = build_model(case, shards, args).to(args.device)
    model.set_compute(ComputeConfig(precision=case.precision))
    step = make_step(model, case.precision)
    batches = draw_batches(case, shards)
    buckets = Buckets(shards, batches, case.pairs)
    on_device = DeviceShards(shards, torch.device(args.device))
    compiled = case.system == "compiled"
    steps = ResidentSteps(step, on_device, buckets, capture=True, compile_plan=compiled)
    steps.load_epoch(
        batches,
        torch.tensor([step_key(0, i) for i in range(case.steps)]),
        torch.full((case.steps,), RATES.learning_rate),
    )

    def run(i: int) -> None:
        steps.run(i)

    run.weights = model.state_dict  # type: ignore[attr-defined]
    return run


def profile(case: Case, shards: GraphShards, args) -> None:
    """Print the kernels of a step by their time on the GPU."""
    run = prepare_captured(case, shards, args)
    for i in range(case.steps):
        run(i)
    torch.cuda.synchronize()
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as seen:
        for i in range(case.steps):
            run(i)
        torch.cuda.synchronize()
    kernels = [e for e in seen.key_averages() if e.self_device_time_total > 0]
    kernels.sort(key=lambda e: -e.self_device_time_total)
    total = sum(e.self_device_time_total for e in kernels) / case.steps
    count = sum(e.count for e in kernels) / case.steps
    print(f"{case.system}, {case.pairs} pairs: {total:.0f} us in {count:.0f} kernels")
    for event in kernels[:40]:
        each = event.self_device_time_total / case.steps
        print(f"{each:>9.1f} us {event.count / case.steps:>7.1f}  {event.key[:90]}")


PHASES = ("assembly", "forward", "loss", "backward", "update")


def list_phases(
    case: Case, shards: GraphShards, args
) -> tuple[TrainingStep, list[Callable[[], None]]]:
    """One step as the five functions of :data:`PHASES`, to be called in this order."""
    device, on_gpu = torch.device(args.device), args.device != "cpu"
    model = build_model(case, shards, args).to(device)
    model.set_compute(ComputeConfig(precision=case.precision))
    step = make_step(model, case.precision)
    batches = draw_batches(case, shards)
    on_device = DeviceShards(shards, device) if on_gpu else None
    bucket = Buckets(shards, batches, case.pairs).choose(batches)[0]
    positions = torch.from_numpy(batches[0]).to(device)
    key, room = torch.tensor(7, device=device), bucket.query_room if on_gpu else None

    def arrange(positions, key):
        if on_device is None:
            return step.arrange(shards.assemble(batches[0]), key)
        return step.arrange(on_device.assemble(positions, bucket.size), key)

    if case.system == "compiled" and on_gpu:
        torch.compiler.reset()
        arrange = torch.compile(arrange, dynamic=False)
    now: dict[str, object] = {}

    def assemble() -> None:
        now["batch"], now["graph"] = arrange(positions, key)

    def forward() -> None:
        vectors = model.encode(now["batch"], now["graph"])
        now["posts"] = split_pairs(now["batch"], vectors, case.pairs, room)

    def compare() -> None:
        now["value"] = step.loss(*now["posts"])

    def backward() -> None:
        step.optimizer.zero_grad(set_to_none=True)
        now["value"].loss.backward()

    def update() -> None:
        step.clip()
        step.optimizer.step()

    return step, [assemble, forward, compare, backward, update]


def capture_phases(step: TrainingStep, phases: list) -> list[Callable[[], None]]:
    """Capture each phase as a CUDA graph; what one leaves behind, the next reads."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for phase in phases * 2:
            phase()
    torch.cuda.current_stream().wait_stream(side)
    step.optimizer.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    pool = torch.cuda.graph_pool_handle()
    replays = []
    for phase in phases:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            phase()
        replays.append(graph.replay)
    return replays


def print_phases(case: Case, shards: GraphShards, args) -> None:
    """Print the milliseconds of each phase of a step, and their sum."""
    on_gpu = args.device != "cpu"
    step, phases = list_phases(case, shards, args)
    if on_gpu:
        phases = capture_phases(step, phases)
    spent = np.zeros(len(phases))
    repeats = 30 if on_gpu else 3
    for _ in range(repeats):
        marks = []
        for phase in (None, *phases):
            if phase is not None:
                phase()
            if on_gpu:
                marks.append(torch.cuda.Event(enable_timing=True))
                marks[-1].record()
            else:
                marks.append(time.process_time())
        if on_gpu:
            torch.cuda.synchronize()
            spent += [a.elapsed_time(b) for a, b in itertools.pairwise(marks)]
        else:
            spent += np.diff(marks) * 1e3
    spent /= repeats
    parts = ", ".join(f"{n} {ms:.2f}" for n, ms in zip(PHASES, spent, strict=True))
    print(f"{'':>14}{parts}; sum {spent.sum():.2f} ms", flush=True)


def print_memory() -> None:
    """Print what the graphs' pools and everything else have reserved on the GPU."""
    pools: dict[bool, list[int]] = {True: [0, 0], False: [0, 0]}
    for segment in torch.cuda.memory_snapshot():
        of_graph = tuple(segment.get("segment_pool_id", (0, 0))) != (0, 0)
        pools[of_graph][0] += segment["total_size"]
        pools[of_graph][1] += 1
    for name, of_graph in (("CUDA graphs", True), ("everything else", False)):
        size, count = pools[of_graph]
        print(f"{'':>14}{name}: {size / 2**20:,.0f} MiB in {count} segments")


def measure(run: Callable[[int], None], steps: int, on_gpu: bool) -> tuple[float, int]:
    """Seconds per step, and the largest memory on the GPU."""
    if not on_gpu:
        run(0)
        started = time.process_time()
        for i in range(steps):
            run(i)
        return (time.process_time() - started) / steps, 0
    for i in range(steps):  # captures every bucket
        run(i)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    at_start = torch.cuda.max_memory_reserved()
    print(f"{'':>14}at start {at_start / 2**20:,.0f} MiB reserved", flush=True)
    torch.cuda.reset_peak_memory_stats()
    started = time.perf_counter()
    for i in range(steps):
        run(i)
    torch.cuda.synchronize()
    seconds = (time.perf_counter() - started) / steps
    return seconds, torch.cuda.max_memory_allocated()


def run_case(case: Case, shards: GraphShards, args) -> float:
    """Measure one row and print it; returns seconds per step."""
    on_gpu = args.device != "cpu"
    captured = case.system in ("captured", "compiled")
    started = time.perf_counter()
    free_memory(on_gpu)
    try:
        make = prepare_captured if captured else prepare_eager
        run = make(case, shards, args)
        seconds, memory = measure(run, case.steps, on_gpu)
        reserved = torch.cuda.max_memory_reserved() if on_gpu else 0
    except torch.OutOfMemoryError:
        print(f"{case.pairs:>6}{case.bases:>6}  {case.system:<10}  out of memory")
        return float("nan")
    total = time.perf_counter() - started
    print(
        f"{case.pairs:>6}{case.bases:>6}  {case.system:<10}{case.precision:<6}"
        f"{seconds * 1e3:>10.2f}{case.pairs / seconds:>11,.0f}"
        f"{EPOCH / case.pairs * seconds:>10,.0f}{memory / 2**20:>9,.0f}"
        f"{reserved / 2**20:>10,.0f}{total:>9.0f}",
        flush=True,
    )
    if on_gpu and captured:
        print_memory()
    del run
    if args.phases and case.system in ("ours", "captured", "compiled"):
        free_memory(on_gpu)
        print_phases(case, shards, args)
    return seconds


def free_memory(on_gpu: bool) -> None:
    """Give back what the row before held, so that each row counts its own memory."""
    if on_gpu:
        torch.compiler.reset()
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def check_repeatability(shards: GraphShards, args) -> None:
    """Train twice from one seed and compare all weights bit by bit."""
    case = Case("captured", 32, 64, steps=12)
    ends = []
    for _ in range(2):
        if args.device == "cpu":
            case = Case("ours", 8, 16, steps=3)
            model = build_model(case, shards, args)
            step = make_step(model, "fp32")
            for i, row in enumerate(draw_batches(case, shards)):
                step.run(shards.assemble(row), step_key(0, i), case.pairs)
            ends.append(model.state_dict())
        else:
            run = prepare_captured(case, shards, args)
            for i in range(case.steps):
                run(i)
            weights = run.weights()  # type: ignore[attr-defined]
            ends.append({n: v.clone() for n, v in weights.items()})
    different = [n for n in ends[0] if not torch.equal(ends[0][n], ends[1][n])]
    print(
        f"same seed twice, {case.steps} steps: different weights {different or 'none'}"
    )


CPU_ROWS = [Case("fast", 32, 64, steps=2), Case("ours", 32, 64, steps=6)]
CUDA_ROWS = [
    Case("fast", 32, 64),
    Case("ours", 32, 64),
    Case("captured", 32, 64, steps=300),
    Case("captured", 32, 64, "bf16", steps=300),
    Case("fast", 16, 256),
    Case("captured", 16, 256, steps=300),
    Case("captured", 1024, 64, steps=30),
    Case("captured", 1024, 64, "bf16", steps=30),
    Case("compiled", 32, 64, steps=300),
    Case("compiled", 16, 256, steps=300),
    Case("compiled", 1024, 64, steps=30),
]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    graph_source.add_arguments(parser, graphs=0)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--threads", type=int, default=1, help="of the CPU")
    parser.add_argument("--edge-attributes", action="store_true")
    parser.add_argument(
        "--rows",
        nargs="*",
        metavar="SYSTEM:PAIRS:BASES:PRECISION:STEPS",
        help="systems: ours, captured, compiled, fast, rgcn; instead of the table",
    )
    parser.add_argument("--no-repeatability", action="store_true")
    parser.add_argument("--phases", action="store_true", help="time of each phase")
    parser.add_argument("--profile", action="store_true", help="kernels, not times")
    args = parser.parse_args()
    args.graphs = args.graphs or (2_000 if args.device == "cpu" else 40_000)
    torch.set_num_threads(args.threads)
    rows = CPU_ROWS if args.device == "cpu" else CUDA_ROWS
    if args.rows:
        split = (row.split(":") for row in args.rows)
        rows = [Case(s, int(p), int(b), x, int(n)) for s, p, b, x, n in split]
    where = "cpu" if args.device == "cpu" else torch.cuda.get_device_name()
    with graph_source.open_graphs(args) as shards:
        print(f"{where}, torch {torch.__version__}, {len(shards):,} graphs")
        if args.profile:
            for case in rows:
                profile(case, shards, args)
            return
        print(
            f"{'pairs':>6}{'bases':>6}  {'system':<10}{'prec':<6}{'ms/step':>10}"
            f"{'pairs/s':>11}{'s/epoch':>10}{'MiB':>9}{'reserved':>10}{'total s':>9}"
        )
        base: dict[tuple[int, int], float] = {}
        for case in rows:
            seconds = run_case(case, shards, args)
            key = (case.pairs, case.bases)
            if case.system == "fast":
                base[key] = seconds
            elif key in base:
                print(f"{'':>14}{base[key] / seconds:.1f} times FastRGCNConv")
        if not args.no_repeatability:
            check_repeatability(shards, args)


if __name__ == "__main__":
    main()
