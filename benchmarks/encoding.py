"""Encoding posts: graphs to vectors, in graphs per second.

    python -m benchmarks.encoding                  # two CPU cores
    python -m benchmarks.encoding --device cuda

On a GPU the time includes the copy of the shards to it; the graphs are encoded ten
times over, as one stream. On a CPU the rate is for two cores, from CPU time: threads
do not help such small products, so two processes with one thread each encode twice as
many.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from benchmarks import graph_source
from mathamr_kedro.graph import GraphShards
from mathamr_kedro.learning.encoding import encode_shards
from mathamr_kedro.model.config import ComputeConfig, ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus


def profile(model: MathAMRPlus, shards: GraphShards, batch: int | None) -> None:
    """Print where a pass over all graphs spends its time, on GPU and host."""
    kinds = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[kinds.CUDA, kinds.CPU]) as seen:
        started = time.perf_counter()
        for _ in encode_shards(model, shards, batch_size=batch):
            pass
        seconds = time.perf_counter() - started
    events = seen.key_averages()
    on_gpu = sum(e.self_device_time_total for e in events) / 1e6
    print(f"one pass: {seconds:.3f} s, kernels {on_gpu:.3f} s")
    for key in ("self_device_time_total", "self_cpu_time_total"):
        print(key)
        for e in sorted(events, key=lambda e: -getattr(e, key))[:18]:
            print(f"{getattr(e, key) / 1e3:>10.2f} ms {e.count:>7}  {e.key[:90]}")


def main() -> None:
    """Print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    graph_source.add_arguments(parser, graphs=0)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--batch", type=int, help="graphs at once")
    parser.add_argument("--bases", type=int, default=64)
    parser.add_argument("--profile", action="store_true", help="on a GPU")
    args = parser.parse_args()
    on_gpu = args.device == "cuda"
    args.graphs = args.graphs or (40_000 if on_gpu else 1_000)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    precisions = ("fp32", "bf16") if on_gpu else ("fp32",)
    with graph_source.open_graphs(args) as shards:
        print(f"{'precision':<11}{'graphs':>9}{'seconds':>9}{'graphs/s':>11}")
        for precision in precisions:
            model = MathAMRPlus(ModelConfig(num_bases=args.bases), shards.schema)
            model.to(args.device).set_compute(ComputeConfig(precision=precision))
            if on_gpu:  # a part warms the kernels up, each size on its own
                sizes = {args.batch or 4096, args.graphs % (args.batch or 4096)}
                for size in sizes - {0}:
                    list(encode_shards(model, shards, np.arange(size), args.batch))
            else:
                next(encode_shards(model, shards, batch_size=args.batch))
            clock = time.perf_counter if on_gpu else time.process_time
            rounds = 10 if on_gpu else 1
            positions = np.tile(np.arange(len(shards)), rounds)
            started = clock()
            count = sum(
                len(part)
                for part in encode_shards(model, shards, positions, args.batch)
            )
            seconds = clock() - started
            rate = count / seconds * (1 if on_gpu else 2)
            print(f"{precision:<11}{count:>9,}{seconds:>9.2f}{rate:>11,.0f}")
            if on_gpu and args.profile:
                profile(model, shards, args.batch)


if __name__ == "__main__":
    main()
