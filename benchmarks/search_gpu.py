"""Exact searches on a GPU: 1.37 million posts by MaxSim, 22 million formulas."""

from __future__ import annotations

import itertools
import statistics
import time

import numpy as np
import torch

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.vectors.rescoring import name_items, select_top
from mathamr_kedro.vectors.scan import ExactSpace

WIDTH, EACH, DEPTH = 32, 16, 1000
POST_RATE, FORMULA_RATE = 10_000, 1_000
"""Queries per second that are asked for, in batches of 80."""


def synchronize(device: str) -> None:
    """Wait for the device."""
    if device != "cpu":
        torch.cuda.synchronize()


def time_calls(call, device: str, repeats: int = 7) -> float:
    """Return the median wall time of a call in milliseconds, after two warm-ups."""
    times = []
    for number in range(repeats + 2):
        synchronize(device)
        start = time.perf_counter()
        call()
        synchronize(device)
        if number >= 2:
            times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def draw_rows(count: int, device: str) -> torch.Tensor:
    """Draw unit vectors in half precision, a piece at a time."""
    generator = torch.Generator(device=device).manual_seed(0)
    rows = torch.empty(count, WIDTH, dtype=torch.float16, device=device)
    for a in range(0, count, 1 << 22):
        part = rows[a : a + (1 << 22)]
        drawn = torch.randn(part.shape, device=device, generator=generator)
        part.copy_(torch.nn.functional.normalize(drawn, dim=1))
    return rows


def draw_queries(count: int, each: int, seed: int = 1) -> RaggedVectors:
    """Draw queries in half precision."""
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal((count, each, WIDTH))
    drawn /= np.linalg.norm(drawn, axis=2, keepdims=True)
    return RaggedVectors.of(list(drawn.astype(np.float16)))


def draw_lengths(count: int, device: str) -> torch.Tensor:
    """Draw numbers of vectors per post: 16 on average, lognormal, 2 to 400."""
    generator = torch.Generator(device=device).manual_seed(2)
    drawn = torch.randn(count, device=device, generator=generator)
    lengths = (11.6 * torch.exp(0.8 * drawn)).round().clamp(2, 400)
    return lengths.long()


def check_against_float64(
    space: ExactSpace, items: RaggedVectors, queries: RaggedVectors
) -> tuple[int, float]:
    """Compare rankings of all items with scores of a plain float64 computation."""
    numbers = np.arange(len(space))
    names = np.array([str(i) for i in numbers], dtype=object)
    found = space.find(queries, DEPTH, names.take)
    equal, worst = 0, 0.0
    rows = items.vectors.double()
    for q, (items_found, scores) in enumerate(found):
        a, b = queries.ptr[q : q + 2].tolist()
        tokens = torch.from_numpy(queries.vectors[a:b]).double().to(rows.device)
        similar = rows @ tokens.T
        top = torch.segment_reduce(similar, "max", lengths=items.lengths, unsafe=True)
        true = top.mean(1).round(decimals=9).cpu().numpy()
        order = np.lexsort((numbers, -true))[:DEPTH]
        equal += bool((items_found == order).all())
        worst = max(worst, float(np.abs(scores - true[order]).max()))
    return equal, worst


def break_down(
    space: ExactSpace, queries: RaggedVectors, names: np.ndarray, total: float
) -> None:
    """Say where the time of a search goes, and what naming its results would add."""
    device = str(space.device)
    batch = queries.to(space.device, torch.float32)
    scores = space.scan(batch)
    taken = DEPTH + DEPTH // 16  # as rescoring.Choice does
    _, places = select_top(scores, taken)
    which = torch.arange(len(batch), device=device).repeat_interleave(taken)
    items = places.flatten()  # any items: each query has its own
    best = space.find(queries, DEPTH, names.take)
    steps = {
        "scan": lambda: space.scan(batch),
        "select": lambda: select_top(scores, taken),
        "rescore": lambda: space._score_pairs(batch, which, items),
    }
    took = {name: time_calls(call, device, 5) for name, call in steps.items()}
    took["order and copy"] = total - sum(took.values())
    took["name (extra)"] = time_calls(lambda: name_items(best, names.take), device, 5)
    cells = ", ".join(f"{name} {ms:.2f}" for name, ms in took.items())
    print(f"         of {total:.2f} ms: {cells}")


def find_tiling(items: RaggedVectors, queries: RaggedVectors, device: str) -> None:
    """Time only the kernel with several tilings."""
    from mathamr_kedro.vectors.scan_triton import Tiling, TritonScanner

    batch = queries.to(device, torch.float32)
    best: tuple[float, object] = (np.inf, None)
    for groups, posts, warps, stages in itertools.product(
        (4, 8, 16), (64, 128, 256), (4, 8), (2, 3, 4)
    ):
        if groups * posts > 2048:
            continue
        tiling = Tiling(groups, posts, warps, stages)
        try:
            packed = TritonScanner(items, tiling)
            took = time_calls(lambda p=packed: p.scan(batch), device, 3)
        except Exception as exc:  # does not fit the device
            print(f"    {tiling}: {type(exc).__name__}")
            continue
        best = min(best, (took, tiling), key=lambda pair: pair[0])
    print(f"    fastest: {best[1]}, {best[0]:.3f} ms for the kernel alone")


def measure_posts(device: str, count: int, tilings: bool) -> bool:
    """Measure MaxSim over posts with as many vectors as in the thesis."""
    print(f"\nexact MaxSim on {device}, {count} posts, top {DEPTH}, float16")
    rows = draw_rows(count * EACH, device)
    uniform = RaggedVectors(rows, torch.arange(count + 1, device=device) * EACH)
    small = min(count, 20_000)
    part = RaggedVectors(rows[: small * EACH], uniform.ptr[: small + 1])
    space = ExactSpace(device)
    space.add(part)
    equal, worst = check_against_float64(space, part, draw_queries(20, EACH))
    print(
        f"  check: {equal}/20 rankings of {small} posts as in float64, largest "
        f"difference {worst:.1e}"
    )
    good = equal == 20 and worst < 1e-5
    if tilings:
        find_tiling(uniform, draw_queries(80, EACH), device)
    rates = {}
    lengths = draw_lengths(count, device)
    keep = int((lengths.cumsum(0) <= len(rows)).sum())
    ptr = torch.cat([lengths.new_zeros(1), lengths[:keep].cumsum(0)])
    for name, items in (
        ("16 vectors each", uniform),
        (f"ragged, {keep} posts", RaggedVectors(rows[: int(ptr[-1])], ptr)),
    ):
        space = ExactSpace(device)
        start = time.perf_counter()
        space.add(items)
        synchronize(device)
        print(
            f"  {name}: packed in {time.perf_counter() - start:.2f} s, "
            f"{space.num_bytes() / 1e9:.2f} GB"
        )
        names = np.arange(len(space)).astype(str).astype(object)
        for batch in (1, 8, 80, 256):
            queries = draw_queries(batch, EACH)
            took = time_calls(
                lambda s=space, q=queries, n=names: s.find(q, DEPTH, n.take),
                device,
            )
            rates[name, batch] = 1e3 * batch / took
            print(
                f"    {batch:4d} queries: {took:8.2f} ms, {rates[name, batch]:9.0f}/s"
            )
            if batch == 80:
                break_down(space, queries, names, took)
    del rows, uniform, part, space
    return good and rates["16 vectors each", 80] >= POST_RATE


def measure_formulas(device: str, count: int) -> bool:
    """Measure single-vector search over all formulas."""
    print(f"\nexact single-vector search on {device}, {count} formulas, top {DEPTH}")
    rows = draw_rows(count, device)
    items = RaggedVectors.one_each(rows)
    small = min(count, 200_000)
    part = RaggedVectors(rows[:small], items.ptr[: small + 1])
    space = ExactSpace(device)
    space.add(part)
    equal, worst = check_against_float64(space, part, draw_queries(20, 1))
    print(
        f"  check: {equal}/20 rankings of {small} formulas as in float64, largest "
        f"difference {worst:.1e}"
    )
    space = ExactSpace(device)
    space.add(items)
    names = np.arange(count).astype(str).astype(object)
    rate = 0.0
    for batch in (1, 8, 80):
        queries = draw_queries(batch, 1)
        took = time_calls(lambda q=queries: space.find(q, DEPTH, names.take), device, 3)
        rate = 1e3 * batch / took
        print(f"    {batch:4d} queries: {took:8.2f} ms, {rate:9.0f}/s")
        if batch == 8:  # scores of 80 queries are scanned in two goes
            break_down(space, queries, names, took)
    return equal == 20 and worst < 1e-5 and rate >= FORMULA_RATE
