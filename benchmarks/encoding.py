"""Encoding posts: graphs to vectors, in graphs per second.

    python benchmarks/encoding.py                  # two CPU cores
    python benchmarks/encoding.py --device cuda

On a CPU the rate is for two cores, from CPU time: threads do not help such small
products, so two processes with one thread each encode twice as many.
"""

from __future__ import annotations

import argparse
import time

import graph_source
import torch

from mathamr_kedro.learning.encoding import encode_shards
from mathamr_kedro.model.config import ComputeConfig, ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus


def main() -> None:
    """Print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    graph_source.add_arguments(parser, graphs=0)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--batch", type=int, help="graphs at once")
    parser.add_argument("--bases", type=int, default=64)
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
            model.to(args.device).computed_by(ComputeConfig(precision=precision))
            for _ in encode_shards(model, shards, batch_size=args.batch):
                if not on_gpu:
                    break  # one batch warms a CPU up
            clock = time.perf_counter if on_gpu else time.process_time
            rounds = 5 if on_gpu else 1
            started = clock()
            count = sum(
                len(part.positions)
                for _ in range(rounds)
                for part in encode_shards(model, shards, batch_size=args.batch)
            )
            seconds = clock() - started
            rate = count / seconds * (1 if on_gpu else 2)
            print(f"{precision:<11}{count:>9,}{seconds:>9.2f}{rate:>11,.0f}")


if __name__ == "__main__":
    main()
