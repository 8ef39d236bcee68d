"""Texts a second of a sentence encoder, beside the same one in single precision.

Run from the project root::

    python -m benchmarks.sentence_encoders mathlib.jsonl.gz [--models minilm mpnet]

A text is all that a record has in strings. Prints both speeds, their ratio, how long a
query takes, and how far the cosines of 500 texts are apart.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mathamr_kedro.text import SentenceEncoder, find_text_model

_QUERY = "is $\\sqrt p$ irrational for every prime $p$?"
_REPEATS = 20
_COMPARED = 500


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each model."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sentence_encoders")
    parser.add_argument("records", type=Path, help="JSONL, gzipped or not")
    parser.add_argument("--models", nargs="+", default=["minilm", "mpnet"])
    parser.add_argument("--texts", type=int, default=1000, help="drawn at random")
    options = parser.parse_args(arguments)
    opened = gzip.open if options.records.suffix == ".gz" else open
    with opened(options.records, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    drawn = np.random.default_rng(0).permutation(len(records))[: options.texts]
    texts = [
        " ".join(v for v in records[n].values() if isinstance(v, str)) for n in drawn
    ]
    for name in options.models:
        encoder, single = (SentenceEncoder(find_text_model(name)) for _ in range(2))
        single._model.float()
        vectors, speed, query = measure(encoder, texts)
        exact, slow_speed, slow_query = measure(single, texts)
        some, same = vectors[:_COMPARED], exact[:_COMPARED]
        apart = np.abs(some @ some.T - same @ same.T).max()
        print(
            f"{name}: {speed:.1f} texts/s, single precision {slow_speed:.1f} "
            f"(ratio {speed / slow_speed:.2f}); a query {query:.1f} ms, "
            f"{slow_query:.1f} ms; cosines up to {apart:.4f} apart"
        )
    return 0


def measure(
    encoder: SentenceEncoder, texts: Sequence[str]
) -> tuple[np.ndarray, float, float]:
    """Return vectors, texts a second and the milliseconds of a query."""
    encoder.encode(texts[:64])
    start = time.perf_counter()
    vectors = encoder.encode(texts)
    middle = time.perf_counter()
    for _ in range(_REPEATS):
        encoder.encode([_QUERY])
    query = (time.perf_counter() - middle) / _REPEATS
    return vectors, len(texts) / (middle - start), 1000 * query


if __name__ == "__main__":
    raise SystemExit(main())
