"""What every stage costs as a collection grows: time, memory, disk, and the slope.

    python -m benchmarks.scale --folder FOLDER --posts 1000 10000 100000
    python -m benchmarks.scale --folder FOLDER --posts 1000000 --stages ingestion

Makes synthetic collections (benchmarks/synthetic_collection.py), runs the stages one by
one as ``kedro run`` does with the released encoder, and prints a table for docs: CPU
seconds of all processes, posts per CPU second, peak memory of all processes together
and bytes on disk. The slope is that of log cost over log posts between the last two
sizes: 1 is linear. Whatever has been measured in FOLDER is not run again; ``--figure``
draws it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from itertools import pairwise
from math import log
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.synthetic_collection import SAMPLE, write_collection

PROJECT = Path(__file__).resolve().parents[1]
STAGES = (
    "ingestion",
    "amr_parsing",
    "graph_fusion",
    "preprocessing",
    "training",
    "indexing",
)
SETTINGS = "training.num_epochs=0,ingestion.pairs=all"


class Cost(NamedTuple):
    """What a stage took at one size."""

    stage: str
    posts: int
    cpu_s: float
    wall_s: float
    peak_mb: float
    disk_mb: float


def main() -> None:
    """Parse the arguments, measure what is missing, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--posts", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES)
    parser.add_argument("--source", type=Path, default=SAMPLE, help="a real collection")
    parser.add_argument("--figure", type=Path, help="draw the curves to this file")
    options = parser.parse_args()
    record = options.folder / "costs.jsonl"
    known = read_costs(record)
    for posts in sorted(options.posts):
        raw, data = options.folder / f"raw_{posts}", options.folder / f"data_{posts}"
        if not (raw / "Qrels").exists():  # written last
            write_collection(raw, posts, source=options.source)
        for stage in options.stages:
            if not any((c.stage, c.posts) == (stage, posts) for c in known):
                cost = measure_stage(stage, posts, raw, data)
                known.append(cost)
                with record.open("a") as lines:
                    lines.write(json.dumps(cost._asdict()) + "\n")
    print(make_table(known))
    if options.figure:
        draw_curves(known, options.figure)


def read_costs(path: Path) -> list[Cost]:
    """Read what was measured before."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        return []
    return [Cost(**json.loads(line)) for line in path.read_text().splitlines()]


def measure_stage(stage: str, posts: int, raw: Path, data: Path) -> Cost:
    """Run a stage in a process of its own and watch all processes it starts."""
    settings = f"raw_root={raw},data_root={data},{SETTINGS}"
    command = [sys.executable, "-m", "kedro", "run", "--env", "demo"]
    command += ["--pipelines", stage, "--params", settings]
    before, started = measure_disk(data), time.perf_counter()
    process = subprocess.Popen(command, cwd=PROJECT)
    peak = Peak(process.pid)
    # Of the run and of every worker that it has waited for.
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    if status:
        sys.exit(f"{stage} of {posts:,} posts ended with status {status}")
    return Cost(
        stage,
        posts,
        round(used.ru_utime + used.ru_stime, 1),
        round(wall, 1),
        round(peak.stop() / 1e6, 1),
        round((measure_disk(data) - before) / 1e6, 1),
    )


class Peak:
    """The largest memory of a process and its descendants, looked at twice a second."""

    def __init__(self, pid: int) -> None:
        self._pid, self._bytes, self._is_over = pid, 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        """Stop looking; return the bytes."""
        self._is_over.set()
        self._thread.join()
        return self._bytes

    def _watch(self) -> None:
        while not self._is_over.wait(0.5):
            try:
                first = psutil.Process(self._pid)
                family = [first, *first.children(recursive=True)]
                self._bytes = max(self._bytes, sum(map(read_memory, family)))
            except psutil.NoSuchProcess:
                continue


def read_memory(process: psutil.Process) -> int:
    """Read the memory of a process; files that it maps are not counted."""
    try:
        info = process.memory_info()
    except psutil.NoSuchProcess:
        return 0
    return int(info.rss - info.shared)


def measure_disk(folder: Path) -> int:
    """Sum the files of a folder."""
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())


def make_table(costs: Iterable[Cost]) -> str:
    """Write the costs as a table of Markdown."""
    lines = [
        "| stage | posts | CPU s | posts/CPU s | peak memory, MB | disk, MB | slope |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for stage, rows in group_by_stage(costs).items():
        slopes = [None, *(find_slope(a, b) for a, b in pairwise(rows))]
        for cost, slope in zip(rows, slopes, strict=True):
            lines.append(
                f"| `{stage}` | {cost.posts:,} | {cost.cpu_s:,.0f} "
                f"| {cost.posts / cost.cpu_s:,.0f} | {cost.peak_mb:,.0f} "
                f"| {cost.disk_mb:,.0f} | {'' if slope is None else f'{slope:.2f}'} |"
            )
    return "\n".join(lines)


def group_by_stage(costs: Iterable[Cost]) -> dict[str, list[Cost]]:
    """Put costs in the order of stages and sizes."""
    chosen = sorted(costs, key=lambda c: (STAGES.index(c.stage), c.posts))
    return {s: rows for s in STAGES if (rows := [c for c in chosen if c.stage == s])}


def find_slope(small: Cost, large: Cost) -> float:
    """Return the slope between two sizes on logarithmic axes."""
    return log(large.cpu_s / small.cpu_s) / log(large.posts / small.posts)


def draw_curves(costs: Iterable[Cost], path: Path) -> None:
    """Draw time and memory over the number of posts, on logarithmic axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained", dpi=110)
    panels = figure.subplots(1, 2)
    for stage, rows in group_by_stage(costs).items():
        posts = [c.posts for c in rows]
        panels[0].loglog(posts, [c.cpu_s for c in rows], marker="o", label=stage)
        panels[1].loglog(posts, [c.peak_mb for c in rows], marker="o", label=stage)
    for axes, name in zip(panels, ("CPU seconds", "peak memory, MB"), strict=True):
        axes.set_xlabel("posts")
        axes.set_title(name)
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize=8, frameon=False)
    FigureCanvasAgg(figure).print_png(str(path))


if __name__ == "__main__":
    main()
