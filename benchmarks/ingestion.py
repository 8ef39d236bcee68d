"""Ingestion: posts per second and peak memory on a synthetic collection of N posts.

    python -m benchmarks.ingestion --posts 1000000

Makes the collection (kept in --folder if given), runs the real pipeline in a process of
its own and reads that process' peak memory. Rates are per CPU second of one core.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
_FILES = {
    "topics": [],
    "topic_formulas": {},
    "topic_notes": [],
    "qrels": {},
}
NODES = ("extract_formulas", "extract_posts", "extract_comments")


def main() -> None:
    """Parse the arguments, make the collection, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--posts", type=int, default=50_000)
    parser.add_argument("--folder", type=Path, help="keep the collection here")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        result = run_pipeline(arguments.folder)
        (arguments.folder / "result.json").write_text(json.dumps(result))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        if not (folder / "raw" / "Posts.V1.3.xml").exists():
            make_collection(folder / "raw", arguments.posts)
        command = [sys.executable, "-m", "benchmarks.ingestion", "--child"]
        subprocess.run([*command, "--folder", str(folder)], check=True)
        report(json.loads((folder / "result.json").read_text()))


def make_collection(folder: Path, posts: int) -> None:
    """Write the synthetic collection."""
    from benchmarks.synthetic_collection import write_collection

    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    write_collection(folder, posts)
    size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    seconds = time.perf_counter() - started
    print(f"made {posts:,} posts, {size / 1e6:,.0f} MB, in {seconds:.0f} s")


def run_pipeline(folder: Path) -> dict[str, object]:
    """Run the ingestion pipeline; measure CPU time per node and peak memory."""
    from kedro.framework.project import pipelines
    from kedro.framework.session import KedroSession
    from kedro.framework.startup import bootstrap_project
    from kedro.runner import SequentialRunner

    from mathamr_kedro.datasets.collections import CollectionDataset

    bootstrap_project(PROJECT)
    roots = {"data_root": str(folder / "data"), "raw_root": str(folder / "raw")}
    session = KedroSession.create(PROJECT, env="base", runtime_params=roots)
    context = session.load_context()
    catalog = context.catalog
    files = {
        "posts": "Posts.V1.3.xml",
        "comments": "Comments.V1.3.xml",
        "formulas": {
            f: f"Formulas/{f}_representation_v3" for f in ("latex", "slt", "opt")
        },
    }
    catalog["collection"] = CollectionDataset(
        kind="arqmath", root=str(folder / "raw"), files=files | _FILES
    )
    seconds: dict[str, float] = {}
    peaks: dict[str, float] = {}
    wall = time.perf_counter()
    for step in pipelines["ingestion"].nodes:
        started = time.process_time()
        SequentialRunner().run(pipelines["ingestion"].only_nodes(step.name), catalog)
        name = step.name.rpartition(".")[2]  # without the stage
        seconds[name] = time.process_time() - started
        peaks[name] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "seconds": seconds,
        "wall": time.perf_counter() - wall,
        "posts": catalog.load("posts").counts["written"],
        "formulas": catalog.load("formulas").counts["written"],
        "comments": catalog.load("comments").counts["written"],
        "peaks_mb": peaks,
    }


def report(result: dict) -> None:
    """Print the table."""
    seconds, total = result["seconds"], sum(result["seconds"].values())
    print(f"\n{'':28}{'records':>12}{'CPU s':>9}{'per CPU s':>11}")
    for node, table in zip(NODES, ("formulas", "posts", "comments"), strict=True):
        count = result[table]
        rate = count / seconds[node]
        print(f"{node:28}{count:12,}{seconds[node]:9.1f}{rate:11,.0f}")
    print(f"{'whole stage, posts':28}{result['posts']:12,}{total:9.1f}"
          f"{result['posts'] / total:11,.0f}")  # fmt: skip
    print("\npeak memory so far, MB, after each node")
    for node, peak in result["peaks_mb"].items():
        print(f"{node:28}{peak:12,.0f}")
    print(f"\nwall time {result['wall']:,.0f} s")


if __name__ == "__main__":
    main()
