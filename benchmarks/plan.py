"""Hours, machines, bytes and euros for collections of any size, from measured rates.

    python -m benchmarks.plan --posts 2400000 24000000 240000000

Prints the table of docs/scaling.md. Every rate is a measured one, with the page that
tells how; every figure is a product of these, so another machine needs other rates and
nothing else. Prices are assumptions.
"""

from __future__ import annotations

import argparse
import math
from typing import NamedTuple

PAIRS_A_POST = 0.2  # 491,074 pairs of a question and its accepted answer
EPOCHS = 7

# Posts per CPU second at the largest size that was run (docs/results/scale.md);
# indexing without encoding (docs/costs.md), which a GPU does.
RATES = {
    "ingestion": 285,
    "amr_parsing": 24,
    "graph_fusion": 144,
    "preprocessing": 208,
    "indexing": 1_151,
}
PAIRS_PER_GPU_SECOND = 491_074 / 24  # docs/results/training_speed.md
POSTS_PER_GPU_SECOND = 8_112  # encoded and written (docs/results/scale.md)

# Bytes of a post; its vectors are 16 of 128 numbers (docs/pipelines/indexing.md).
VECTORS = 16
NUMBERS = VECTORS * 128
BYTES = {
    "raw files": 9_000,  # 9 MB for 1,000 posts of benchmarks/synthetic_collection.py
    "graphs": 2_950,
    "vectors, float32": 4 * NUMBERS,
    "links": 2 * 16 * 4,  # HNSW over documents: 2 m links of four bytes, m = 16
}
GRAPH = 4 * 128 + BYTES["links"]  # the document vector of a post, and its links

# Assumptions: what clouds ask, in euros, and the machines that one rents.
CORE_HOUR, GPU_HOUR, DISK_GB_MONTH, MEMORY_GB_MONTH = 0.04, 4.0, 0.05, 3.0
CORES, MEMORY_GB = 64, 256


class Plan(NamedTuple):
    """What a collection of one size takes."""

    posts: int
    core_hours: float
    parsing_share: float
    machines_for_a_day: int
    gpu_hours: float
    disk_gb: float
    exact_gb: float
    graph_gb: float
    servers: int
    euros_once: float
    euros_a_month: float


def make_plan(posts: int) -> Plan:
    """Multiply the rates."""
    hours = {stage: posts / rate / 3600 for stage, rate in RATES.items()}
    core_hours = sum(hours.values())
    pairs = posts * PAIRS_A_POST * EPOCHS
    gpu_hours = (pairs / PAIRS_PER_GPU_SECOND + posts / POSTS_PER_GPU_SECOND) / 3600
    disk = posts * (sum(BYTES.values())) / 1e9
    exact = posts * BYTES["vectors, float32"] / 1e9
    graph = posts * GRAPH / 1e9
    servers = math.ceil(2 * graph / (0.75 * MEMORY_GB))  # two copies, a quarter free
    once = core_hours * CORE_HOUR + gpu_hours * GPU_HOUR
    monthly = disk * DISK_GB_MONTH + servers * MEMORY_GB * MEMORY_GB_MONTH
    return Plan(
        posts,
        core_hours,
        hours["amr_parsing"] / core_hours,
        math.ceil(core_hours / (CORES * 24)),
        gpu_hours,
        disk,
        exact,
        graph,
        servers,
        once,
        monthly,
    )


ROWS = {
    "core hours, all stages": lambda p: f"{p.core_hours:,.0f}",
    "of these, parsing (built-in parser)": lambda p: f"{p.parsing_share:.0%}",
    f"machines of {CORES} cores for one day": lambda p: f"{p.machines_for_a_day:,}",
    "GPU hours, training and encoding": lambda p: f"{p.gpu_hours:,.2f}",
    "disk, GB": lambda p: f"{p.disk_gb:,.0f}",
    "memory of the engine `exact`, float32, GB": lambda p: f"{p.exact_gb:,.0f}",
    "memory of HNSW over document vectors, GB": lambda p: f"{p.graph_gb:,.0f}",
    f"search servers of {MEMORY_GB} GB, two copies": lambda p: f"{p.servers:,}",
    "euros once": lambda p: f"{p.euros_once:,.0f}",
    "euros a month": lambda p: f"{p.euros_a_month:,.0f}",
}


def main() -> None:
    """Parse the arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    sizes = [2_400_000, 24_000_000, 240_000_000]
    parser.add_argument("--posts", type=int, nargs="+", default=sizes)
    plans = [make_plan(posts) for posts in parser.parse_args().posts]
    print("| posts |" + "|".join(f" {p.posts:,} " for p in plans) + "|")
    print("|---|" + "---:|" * len(plans))
    for name, show in ROWS.items():
        print(f"| {name} |" + "|".join(f" {show(p)} " for p in plans) + "|")


if __name__ == "__main__":
    main()
