"""Disturb whole runs in every way that a machine can, and check the results.

A small collection goes through all stages once, undisturbed. Then, again and again:

- *kill*: the process is killed (SIGKILL) before or after a rename, or at a random
  moment, and the same command is run again;
- *flip*, *cut*, *empty*, *delete*: one file that the stages wrote is damaged, and the
  command is run again;
- *full disk*, *little memory*: the run gets a limit, fails, and is run again without;
- *two at once*: a second run with other parameters starts in the same folder;
- *clock*: the clock is a year behind, or ahead, when the run resumes or is repeated.

What may come out: the same outputs (``same``), or a stop of one line that names a file
and a remedy, and the same outputs after the remedy (``stopped``). What may not: other
outputs without a word (``silent``), a stop that does not say what to do (``crash``), or
other outputs after the remedy (``lost``).

Example:
    python -m benchmarks.faults --kills 200 --output docs/results/reliability.md
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from typing import Any

import kedro.io.core

from benchmarks.fault_bench import FORK, PROJECT, VERSION, Bench, Row, patch_renames

NEVER_DAMAGED = (".lock", ".log")
Case = Callable[[], Row]
"""A disturbance, ready to be tried."""

# Disturbances: each returns what to do in the child before the stages run.


def _kill_at_rename(number: int, is_after: bool) -> Callable[[], None]:
    def disturb() -> None:
        left = [number]

        def kill(source: Any, target: Any) -> None:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

        patch_renames(**{"after" if is_after else "before": kill})

    return disturb


def _limit_files(size: int) -> Callable[[], None]:
    """No file may grow beyond a size: the first that does meets a full disk."""

    def disturb() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return disturb


def _limit_memory(more: int) -> Callable[[], None]:
    def disturb() -> None:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        size = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (size, size))

    return disturb


def _turn_clock(seconds: float) -> Callable[[], None]:
    def disturb() -> None:
        now, now_ns = time.time, time.time_ns
        time.time = lambda: now() + seconds
        time.time_ns = lambda: now_ns() + int(seconds * 1e9)

        class Turned(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
                return datetime.now(tz) + timedelta(seconds=seconds)

        vars(kedro.io.core)["datetime"] = Turned  # which names versions

    return disturb


# Damages of one file.


def _flip(file: Path, rng: random.Random) -> None:
    data = bytearray(file.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    _write_in_place(file, bytes(data))


def _cut(file: Path, rng: random.Random) -> None:
    _write_in_place(file, file.read_bytes()[: file.stat().st_size // 2])


def _empty(file: Path, rng: random.Random) -> None:
    _write_in_place(file, b"")


def _delete(file: Path, rng: random.Random) -> None:
    file.unlink()


def _write_in_place(file: Path, data: bytes) -> None:
    """Damage a file as a disk would: its times stay."""
    stat = file.stat()
    file.write_bytes(data)
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


DAMAGES = {"flip": _flip, "cut": _cut, "empty": _empty, "delete": _delete}


def kill_runs(bench: Bench, number: int, rng: random.Random) -> Iterator[Case]:
    """Kill at random moments, and before and after renames, in no order."""
    moments = [(i, after) for i in range(len(bench.renames)) for after in (False, True)]
    at_renames = min(len(moments), max(1, number * 3 // 4))
    for _ in range(number - at_renames):
        yield partial(_kill_late, bench, rng.random())
    for i, after in rng.sample(moments, at_renames):
        yield partial(_kill_once, bench, i, after)


def _kill_once(bench: Bench, number: int, is_after: bool) -> Row:
    root = bench.empty()
    bench.run(root, _kill_at_rename(number, is_after))
    place = shorten(bench.renames[number])
    fault = f"kill {'after' if is_after else 'before'} a rename"
    return bench.judge(fault, place, root, bench.run(root))


def _kill_late(bench: Bench, moment: float) -> Row:
    root = bench.empty()
    bench.run(root, limit=moment * bench.seconds)
    return bench.judge("kill at a random moment", "", root, bench.run(root))


def damage_files(bench: Bench, per_kind: int, rng: random.Random) -> Iterator[Case]:
    """Damage some files of each kind that the stages wrote, in no order."""
    kinds: dict[str, list[Path]] = defaultdict(list)
    for file in sorted(bench.clean.rglob("*")):
        name = file.relative_to(bench.clean).as_posix()
        if file.is_file() and file.stat().st_size and not name.endswith(NEVER_DAMAGED):
            kinds[shorten(name)].append(file.relative_to(bench.clean))
    cases = [
        partial(_damage_once, bench, fault, kind, file, rng.random())
        for kind, files in sorted(kinds.items())
        for fault in DAMAGES
        for file in rng.sample(files, min(per_kind, len(files)))
    ]
    rng.shuffle(cases)  # what is done early is a fair sample
    yield from cases


def _damage_once(bench: Bench, fault: str, kind: str, file: Path, seed: float) -> Row:
    root = bench.copy()
    DAMAGES[fault](root / file, random.Random(seed))
    return bench.judge(fault, kind, root, bench.run(root))


def starve_runs(bench: Bench) -> Iterator[Case]:
    """Fill the disk and take the memory, then run again without the limit."""
    for size in (1_000, 10_000, 50_000, 200_000):
        fault = f"full disk ({size:,} bytes a file)"
        yield partial(_starve, bench, fault, _limit_files(size))
    for megabytes in (1, 50, 150):
        limit = _limit_memory(megabytes * 2**20)
        yield partial(_starve, bench, f"little memory ({megabytes} MB more)", limit)


def _starve(bench: Bench, fault: str, disturb: Callable[[], None]) -> Row:
    root = bench.empty()
    first = bench.run(root, disturb)
    row = bench.judge(fault, "", root, bench.run(root))
    if first.code not in (0, 1) and row.outcome == "same":
        return row._replace(outcome="crash", message=first.message)
    is_stopped = first.code == 1 and row.outcome == "same"
    return row._replace(
        outcome="stopped" if is_stopped else row.outcome, message=first.message
    )


def run_two_at_once(bench: Bench) -> Iterator[Case]:
    """Start a second run with other parameters beside the first."""
    for part in (0.1, 0.4, 0.7):
        yield partial(_run_beside, bench, part)


def _run_beside(bench: Bench, moment: float) -> Row:
    root = bench.empty()
    first = FORK.Process(target=bench.run, args=(root,))
    first.start()
    time.sleep(moment * bench.seconds)
    other = bench.run(root, ingestion={"records_per_shard": 17})
    first.join()
    row = bench.judge("two at once", "", root, bench.run(root))
    outcome = row.outcome
    if other.code == 2:
        outcome = "crash"
    elif other.code == 1 and outcome == "same":
        outcome = "stopped"
    return row._replace(outcome=outcome, message=other.message)


def turn_clock(bench: Bench, rng: random.Random) -> Iterator[Case]:
    """Resume, or run again, with a clock that is a year behind, or ahead."""
    for years in (-1, 1):
        yield partial(_run_again_at, bench, years)
        for _ in range(2):
            number = rng.randrange(len(bench.renames))
            yield partial(_go_on_at, bench, years, number)


def _go_on_at(bench: Bench, years: int, number: int) -> Row:
    root = bench.empty()
    bench.run(root, _kill_at_rename(number, True))
    end = bench.run(root, _turn_clock(years * 365 * 86_400))
    return bench.judge(f"clock, {years:+d} year", "", root, end)


def _run_again_at(bench: Bench, years: int) -> Row:
    root = bench.copy()
    end = bench.run(root, _turn_clock(years * 365 * 86_400))
    fault = f"clock after a finished run, {years:+d} year"
    return bench.judge(fault, "", root, end)


def shorten(name: str) -> str:
    """Return the kind of a file: its folder and name without numbers and checksums."""
    stage, _, name = re.sub(r".*?(?=0[2-8]_)", "", name, count=1).partition("/")
    name = VERSION.sub("VERSION", name)
    name = re.sub(r"[0-9a-f]{12,}", "HASH", name)
    name = re.sub(r"(?<![_\d])\d+(?=[-_./]|$)|(?<=[-_])\d{2,}", "N", name)
    return f"{stage}/{name}"


def format_report(rows: list[Row], command: str, seconds: float) -> str:
    """Return the table, and every row that is not as it should be."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        counts[row.fault][row.outcome] += 1
    kinds = ("same", "stopped", "silent", "crash", "lost")
    lines = [
        "# Reliability",
        "",
        "What comes out of a run that was killed, of files that were damaged, of too "
        "little memory or disk, of two runs at once and of a wrong clock. Every run is "
        "compared with an undisturbed one: *same* outputs; or *stopped* with one line "
        "that names a file and a remedy, and the same outputs after that. Nothing may "
        "be *silent* (other outputs without a word), a *crash* (no remedy is named) or "
        "*lost* (other outputs after the remedy).",
        "",
        f"`{command}`, {len(rows)} disturbed runs of a small collection in the layout "
        f"of ARQMath, {seconds / 60:.0f} minutes.",
        "",
        "| fault | runs | " + " | ".join(kinds) + " |",
        "|---|" + "---:|" * (len(kinds) + 1),
    ]
    for fault, found in counts.items():
        cells = " | ".join(str(found[kind]) for kind in kinds)
        lines.append(f"| {fault} | {found.total()} | {cells} |")
    bad = [row for row in rows if row.outcome in kinds[2:]]
    if bad:
        lines += ["", "## To mend", "", "| fault | place | outcome | message |"]
        lines += ["|---|---|---|---|"]
        lines += [f"| {r.fault} | {r.place} | {r.outcome} | {r.message} |" for r in bad]
    shown: dict[str, Row] = {}
    for row in rows:
        if row.outcome == "stopped":  # one of each kind of message
            shown.setdefault(re.sub(r"'[^']*'|\(.*?\)+|\d+", "", row.message), row)
    if shown:
        lines += ["", "## Messages of stopped runs", ""]
        lines += [f"- {r.fault}: {_hide_paths(r.message)}" for r in shown.values()]
    return "\n".join(lines) + "\n"


def _hide_paths(message: str) -> str:
    line = message.partition("\n")[0]
    line = re.sub(r"'[^']*?/data(?:/(0\d_[^']*))?'", r"'data/\1'", line)
    return re.sub(r"by \S+ on \S+", "by USER on HOST", line)


def list_cases(bench: Bench, options: argparse.Namespace) -> list[Case]:
    """Return all disturbances of the chosen kinds; the same for the same seed."""
    rng = random.Random(options.seed)
    kinds: dict[str, Iterator[Case]] = {
        "kills": kill_runs(bench, options.kills, rng),
        "files": damage_files(bench, options.files, rng),
        "starve": starve_runs(bench),
        "two": run_two_at_once(bench),
        "clock": turn_clock(bench, rng),
    }
    return [case for kind in options.only or kinds for case in kinds[kind]]


def run_part(options: argparse.Namespace) -> None:
    """Run every n-th disturbance; write the rows as they come."""
    part, parts = options.part
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(PROJECT):
        bench = Bench(Path(folder))
        cases = list_cases(bench, options)
        print(f"undisturbed: {bench.seconds:.0f} s, {len(bench.renames)} renames, "
              f"{len(cases)} disturbances", flush=True)  # fmt: skip
        for case in cases[part::parts]:
            row = case()
            print(" | ".join(row), flush=True)
            with options.rows.open("a") as file:
                file.write(json.dumps(row) + "\n")


def main() -> None:
    """Run the bench in several processes and print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--files", type=int, default=1, help="of each kind and damage")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", choices=("kills", "files", "starve", "two", "clock"), nargs="*"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--rows", type=Path, help="keep the rows here, as JSON lines")
    parser.add_argument("--output", type=Path, help="write the table here too")
    parser.add_argument("--part", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        run_part(options)
        return
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        rows_file = options.rows or Path(folder) / "rows.jsonl"
        workers = [
            subprocess.Popen(
                [sys.executable, "-m", "benchmarks.faults", *sys.argv[1:],
                 "--rows", str(rows_file), "--part", str(part), str(options.workers)]
            )
            for part in range(options.workers)
        ]  # fmt: skip
        for worker in workers:
            worker.wait()
        rows = [Row(*json.loads(line)) for line in rows_file.read_text().splitlines()]
    command = " ".join(["python -m benchmarks.faults", *sys.argv[1:]])
    report = format_report(rows, command, time.perf_counter() - started)
    print(report)
    if options.output:
        options.output.write_text(report, encoding="utf-8")


if __name__ == "__main__":
    main()
