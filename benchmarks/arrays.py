"""Our array files beside Arrow IPC: ids and vectors of a million posts.

python -m benchmarks.arrays [--rows 1000000]
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from mathamr_kedro.base.arrays import TextColumn, read_arrays, write_arrays

WIDTH = 16


def measure(work: Callable[[], object]) -> float:
    """Return the best of three times, in milliseconds."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def main() -> None:
    """Write, open and read both; print milliseconds and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    rng = random.Random(0)
    ids = [str(rng.randrange(10**7)) for _ in range(rows)]
    vectors = np.random.default_rng(0).random((rows, WIDTH)).astype(np.float16)
    some = np.random.default_rng(1).integers(0, rows, 100_000)
    with tempfile.TemporaryDirectory() as folder:
        own, arrow = Path(folder) / "own", Path(folder) / "arrow"

        def write_own() -> None:
            column = TextColumn.of(ids)
            arrays = {"text": column.text, "ends": column.ends, "vectors": vectors}
            write_arrays(own, arrays)

        def write_arrow() -> None:
            flat = pa.array(vectors.reshape(-1))
            table = pa.table(
                {
                    "id": pa.array(ids, pa.large_string()),
                    "vectors": pa.FixedSizeListArray.from_arrays(flat, WIDTH),
                }
            )
            with pa.OSFile(str(arrow), "wb") as file:
                with pa.ipc.new_file(file, table.schema) as writer:
                    writer.write_table(table)

        def open_arrow() -> pa.Table:
            return pa.ipc.open_file(pa.memory_map(str(arrow))).read_all()

        results = {"write": (measure(write_own), measure(write_arrow))}
        results["open"] = (measure(lambda: read_arrays(own)), measure(open_arrow))
        arrays, table = read_arrays(own), open_arrow()
        column = TextColumn(arrays["text"], arrays["ends"])
        results["1,000 ids one by one"] = (
            measure(lambda: [column[int(i)] for i in some[:1000]]),
            measure(lambda: [table["id"][int(i)].as_py() for i in some[:1000]]),
        )
        results["100,000 ids at once"] = (
            measure(lambda: list(column.take(some))),
            measure(lambda: table["id"].take(pa.array(some)).to_pylist()),
        )
        results["bytes / 1,000"] = (
            own.stat().st_size / 1000, arrow.stat().st_size / 1000,
        )  # fmt: skip
    print(f"{'milliseconds':<24}{'own':>10}{'Arrow':>10}{'ratio':>8}")
    for name, (ours, theirs) in results.items():
        print(f"{name:<24}{ours:>10.1f}{theirs:>10.1f}{theirs / ours:>8.2f}")


if __name__ == "__main__":
    main()
