"""Numbers of the graph stages on a collection that has been run through them.

    kedro run --env pool
    python -m benchmarks.graphs --data-root data/pool
    python -m benchmarks.graphs --data-root data/pool --posts 200000 --memory

Speeds are per second of CPU time of all processes, times two for two cores, so they
mean the same on a busy machine. ``--memory`` repeats the posts and measures the peak of
all processes of both stages together.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.random_texts import draw_graph
from mathamr_kedro.base.shards import ShardFolder
from mathamr_kedro.base.workers import WorkerConfig
from mathamr_kedro.corpus import FormulaIds
from mathamr_kedro.datasets import MathGraphs, PenmanShards
from mathamr_kedro.datasets.sharded_table import ShardedTableDataset
from mathamr_kedro.graph import (
    BuildBlocks,
    CheckRecords,
    PreparedGraphs,
    PreprocessingConfig,
    RecordFile,
    build_arrays,
    describe_prepared,
    format_math_graph,
    prepare_graphs,
    read_math_graph,
)
from mathamr_kedro.graph.penman_records import SUFFIX

PROJECT = Path(__file__).resolve().parents[1]
RUN = """
import sys
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project
bootstrap_project(sys.argv[1])
params = {"data_root": sys.argv[2]}
for stage in ("graph_fusion", "preprocessing"):
    with KedroSession.create(sys.argv[1], env="base", runtime_params=params) as session:
        session.run(pipeline_names=[stage])
"""


def open_graphs(data: Path) -> MathGraphs:
    """Open the math graphs of posts."""
    return MathGraphs(data / "03_primary/math_graphs")


def check_round_trips(graphs: MathGraphs, random_graphs: int) -> tuple[int, int, int]:
    """Count texts that come back byte by byte, and graphs that come back equal."""
    count = same = 0
    for record in graphs.records():
        count += 1
        text = format_math_graph(record.graph)
        back = read_math_graph(text)
        same += back == record.graph and format_math_graph(back) == text
    drawn = (draw_graph(seed) for seed in range(random_graphs))
    equal = sum(read_math_graph(format_math_graph(graph)) == graph for graph in drawn)
    return count, same, equal


def check_formulas(data: Path) -> tuple[int, int]:
    """Count the formulas of all posts, and those that are in a fused graph once."""
    path = str(data / "02_intermediate/posts")
    posts = ShardedTableDataset(filepath=path, record="Post").load()
    wanted = {
        (post.post_id, mention.placeholder)
        for post in posts.records()
        for mention in post.formula_map
    }
    found: set[tuple[str, str]] = set()
    for record in open_graphs(data).records():
        parts = {part.number for part in record.graph.formulas}
        found |= {
            (record.graph_id, mention.placeholder)
            for number, mention in record.formulas().items()
            if number in parts
        }
    return len(wanted), len(wanted & found)


def measure(work: Callable[[], int]) -> float:
    """Return items per second of CPU time."""
    started = time.process_time()
    items = work()
    return items / (time.process_time() - started)


def fuse_all(data: Path) -> int:
    """Fuse and count all posts in this process."""
    check = CheckRecords(data / "03_primary/formula_trees/trees.sqlite")
    count = 0
    for _, file in PenmanShards(data / "03_primary/amr_graphs").shards():
        count += len(check(list(RecordFile(file).blocks())))
    return count


def prepare_all(data: Path, base: Path) -> int:
    """Turn all math graphs into prepared graphs in this process."""
    graphs, config = open_graphs(data), PreprocessingConfig()
    parts = {
        part: build_arrays(
            base / "arrays" / part,
            "",
            graphs.checksums() if part == "posts" else {},
            BuildBlocks(graphs.trees, config.graph),
            graphs.shards,
            WorkerConfig(workers=1),
        )
        for part in ("posts", "topics", "formulas")
    }
    prepare_graphs(base / "prepared", parts, [], FormulaIds([]), config, "", "")
    return len(parts["posts"])


def repeat_posts(data: Path, target: Path, posts: int) -> int:
    """Write the AMR graphs of a collection again and again under new ids."""
    shutil.copytree(
        data / "03_primary/formula_trees", target / "03_primary/formula_trees"
    )
    for name in ("topic_amr_graphs", "failures/amr_posts"):
        shutil.copytree(data / "03_primary" / name, target / "03_primary" / name)
    for name in ("training_pairs", "returnable_formulas"):
        table = Path("02_intermediate") / name
        shutil.copytree(data / table, target / table)
    folder = ShardFolder(target / "03_primary/amr_graphs", SUFFIX)
    written = 0
    for copy in itertools.count():
        for name, file in PenmanShards(data / "03_primary/amr_graphs").shards():
            records = [
                r._replace(graph_id=f"{r.graph_id}c{copy}" if copy else r.graph_id)
                for r in RecordFile(file)
            ][: posts - written]
            folder.write(
                f"{copy:03d}-{name}", "repeated", {"written": len(records)},
                lambda path, rows=records: RecordFile(path).write(rows),
            )  # fmt: skip
            written += len(records)
            if written >= posts:
                folder.complete("repeated")
                return written
    return written


def list_family(root: int) -> list[int]:
    """Return a process and all below it."""
    parents: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(status.parent.name))
    family = [root]
    for member in family:
        family += parents.get(member, [])
    return family


def read_memory(process: int) -> int:
    """Return the bytes of a process, shared pages split among those who share them."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def measure_stages(data: Path, posts: int) -> tuple[float, float, float]:
    """Run both stages on repeated posts; return GB at the peak, posts/s, seconds."""
    with tempfile.TemporaryDirectory() as name:
        target = Path(name) / "data"
        written = repeat_posts(data, target, posts)
        command = [sys.executable, "-W", "ignore", "-c", RUN, str(PROJECT), str(target)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        process = subprocess.Popen(command)
        peak = 0
        done = threading.Event()

        def watch() -> None:
            nonlocal peak
            while not done.wait(0.5):
                peak = max(peak, sum(map(read_memory, list_family(process.pid))))

        watcher = threading.Thread(target=watch)
        watcher.start()
        code = process.wait()
        done.set()
        watcher.join()
        if code:
            raise SystemExit(f"the stages failed with exit code {code}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return peak / 1e9, 2 * written / cpu, time.perf_counter() - started


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-root", type=Path, default=Path("data/pool"))
    parser.add_argument("--random-graphs", type=int, default=10_000)
    parser.add_argument("--memory", action="store_true", help="measure memory instead")
    parser.add_argument("--posts", type=int, default=200_000, help="for --memory")
    args = parser.parse_args()
    if args.memory:
        peak, speed, wall = measure_stages(args.data_root, args.posts)
        print(f"{'posts':<50}{args.posts:>12,}")
        print(f"{'peak memory of all processes, GB':<50}{peak:>12.2f}")
        print(f"{'posts/s through both stages, two cores':<50}{speed:>12,.0f}")
        print(f"{'wall time, s':<50}{wall:>12,.0f}")
        return
    data = args.data_root
    graphs = open_graphs(data)
    count, same, equal = check_round_trips(graphs, args.random_graphs)
    wanted, found = check_formulas(data)
    fusion = measure(lambda: fuse_all(data))
    with tempfile.TemporaryDirectory() as folder:
        preparation = measure(lambda: prepare_all(data, Path(folder)))
        prepared = Path(folder) / "prepared" / PreprocessingConfig().key
        sizes = describe_prepared(PreparedGraphs(prepared))
    rows = [
        ("fused graphs that come back from their text", f"{same:,} of {count:,}"),
        ("random graphs that come back", f"{equal:,} of {args.random_graphs:,}"),
        ("formulas in the fused graphs", f"{found:,} of {wanted:,}"),
        ("fusion, posts/s on two cores", f"{2 * fusion:,.0f}"),
        ("preprocessing, graphs/s on two cores", f"{2 * preparation:,.0f}"),
        ("nodes per graph", f"{sizes['nodes_per_graph']:,.1f}"),
        ("bytes per graph", f"{sizes['bytes_per_graph']:,.0f}"),
        ("bytes per 156 nodes", f"{sizes['bytes_per_156_nodes']:,.0f}"),
    ]
    for name, value in rows:
        print(f"{name:<44}{value:>20}")


if __name__ == "__main__":
    main()
