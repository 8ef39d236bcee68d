"""What the processes of a training send each other in a step, and what that costs.

    python -m benchmarks.communication                             # released encoder
    python -m benchmarks.communication --pairs 256 --vectors 16.1 --gigabytes 12.5

Bytes are exact (``tests/benchmarks/test_communication.py`` counts them); times are
expected, not measured on several GPUs. With n processes, G bytes of gradients and V
bytes of vectors per process, a ring sends from each process

    all-reduce   2 (n - 1) / n * G        gradients of all weights, once a step
    all-gather   (n - 1) * V              vectors of its posts, and what they are

and a step takes, with the times of one GPU for the whole batch,

    T(n) = (assembly + forward + backward) / n + loss + update + bytes / bandwidth

since every process computes the loss of all pairs, and updates all weights. Latency of
the calls, and launching kernels without CUDA graphs, come on top.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from mathamr_kedro.graph import ReleasedEncoder
from mathamr_kedro.model import load_model

NUMBER = 4
"""Bytes of a weight, of a number of a vector, and of an id."""
COLUMNS = 3
"""Of each vector: kind, label, row."""

PHASES = {"assembly": 0.4, "forward": 2.8, "loss": 1.2, "backward": 8.3, "update": 0.1}
"""ms of a step of 1,024 pairs on one H200 (docs/results/training_speed.md)."""


@dataclass(frozen=True)
class Exchange:
    """One step of a training with several processes."""

    weights: int
    """Of the encoder, and the temperature."""
    dimension: int
    """Of a vector."""
    pairs: int
    """Of a batch, over all processes."""
    processes: int
    vectors: float = 16.1
    """Of a post, on average; in ARQMath (docs/experiments.md)."""

    @property
    def gradient_bytes(self) -> int:
        """What a process adds up with the others."""
        return NUMBER * self.weights

    @property
    def gathered_bytes(self) -> int:
        """What a process lets the others know: lengths of posts, vectors, columns."""
        posts = self.pairs // self.processes * 2
        row = NUMBER * (self.dimension + COLUMNS)
        return NUMBER * posts + round(posts * self.vectors) * row

    @property
    def sent_bytes(self) -> float:
        """What each process sends by rings."""
        n = self.processes
        return 2 * (n - 1) / n * self.gradient_bytes + (n - 1) * self.gathered_bytes

    def expect_milliseconds(self, gigabytes: float, phases: dict[str, float]) -> float:
        """The time of a step with links of so many GB/s, without latency."""
        shared = phases["assembly"] + phases["forward"] + phases["backward"]
        own = phases["loss"] + phases["update"]
        return shared / self.processes + own + self.sent_bytes / gigabytes / 1e6


def main() -> None:
    """Print a row for each number of processes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--encoder", default="mathamr_plus", help="name or folder")
    parser.add_argument("--pairs", type=int, default=1024, help="of a batch")
    parser.add_argument("--vectors", type=float, default=16.1, help="of a post")
    parser.add_argument("--gigabytes", type=float, default=300.0, help="GB/s of a link")
    args = parser.parse_args()
    model = load_model(ReleasedEncoder(args.encoder).folder)
    weights = 1 + sum(p.numel() for p in model.parameters())
    print(f"{args.encoder}: {weights:,} weights, {args.pairs} pairs a step")
    print("| processes | gradients | own vectors | sent by each | expected ms/step |")
    print("|---|---|---|---|---|")
    for n in (1, 2, 4, 8):
        step = Exchange(
            weights, model.config.projection_dim, args.pairs, n, args.vectors
        )
        sizes = (step.gradient_bytes, step.gathered_bytes, step.sent_bytes)
        shown = " | ".join(f"{size / 1e6:.2f} MB" for size in sizes)
        time = step.expect_milliseconds(args.gigabytes, PHASES)
        print(f"| {n} | {shown} | {time:.1f} |")


if __name__ == "__main__":
    main()
