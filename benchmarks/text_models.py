"""Quality and speed of sentence encoders and adapters on a machine without Kedro.

::

    python -m benchmarks.text_models minilm encoders/mathamr_text_small \
        --sets sets/stacks_slogans sets/mathlib --out scores.json

A set is a folder with ``documents.jsonl.gz`` (``id``, ``text``) and ``queries.jsonl``
(``id``, ``kind``, ``text``, ``relevant``: ids). Every query ranks all documents but
itself by the cosine of their vectors. Prints nDCG@10, recall@100 and MRR with 95 %
intervals over queries, and writes nDCG@10 of each query.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mathamr_kedro.evaluation.metrics.ndcg import ndcg
from mathamr_kedro.evaluation.metrics.recall import recall_at
from mathamr_kedro.evaluation.metrics.reciprocal_rank import reciprocal_rank
from mathamr_kedro.text.models import find_text_model
from mathamr_kedro.text.sentence_encoder import load_model

_DEPTH = 100
_ROW = "{:28} {:24} {:>6} {:>22} {:>11} {:>7} {:>9}"
_HEAD = ("model", "set", "asked", "nDCG@10", "recall@100", "MRR", "texts/s")
_DRAWS = 2000


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text_models")
    parser.add_argument("models", nargs="+", help="names, or folders")
    parser.add_argument("--sets", nargs="+", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="scores of each query, as JSON")
    options = parser.parse_args(arguments)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(
        _ROW.format("model", "set", "asked", "nDCG@10", "recall@100", "MRR", "texts/s")
    )
    found: dict[str, Any] = {}
    for name in options.models:
        model = load_model(find_text_model(name), device)
        if device == "cuda":
            model.bfloat16()
        for folder in options.sets:
            scores, speed = measure(model, folder)
            found.setdefault(folder.name, {})[name] = scores
            for kind, rows in list_kinds(scores):
                show(Path(name).name, f"{folder.name} {kind}", rows, speed)
    if options.out is not None:
        options.out.write_text(json.dumps(found))
    return 0


def measure(model: Any, folder: Path) -> tuple[dict[str, Any], float]:
    """Return the measures of each query of a set, and texts encoded a second."""
    with gzip.open(folder / "documents.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    queries = [json.loads(x) for x in (folder / "queries.jsonl").open(encoding="utf-8")]
    place = {document["id"]: row for row, document in enumerate(documents)}
    started = time.perf_counter()
    vectors = encode(model, [document["text"] for document in documents])
    speed = len(documents) / (time.perf_counter() - started)
    asked = [q for q in queries if any(key in place for key in q["relevant"])]
    cosines = encode(model, [query["text"] for query in asked]) @ vectors.T
    for row, query in enumerate(asked):
        if query["id"] in place:
            cosines[row, place[query["id"]]] = -2
    top = cosines.topk(min(_DEPTH, len(documents)), dim=1).indices.cpu().numpy()
    scores = {}
    for query, rows in zip(asked, top, strict=True):
        right = {place[key] for key in query["relevant"] if key in place}
        grades = np.array([int(row in right) for row in rows])
        judged = np.ones(len(right), dtype=np.int64)
        scores[query["id"]] = {
            "kind": query["kind"],
            "values": (
                ndcg(grades, judged, k=10),
                recall_at(grades, judged, _DEPTH, relevant_from=1),
                reciprocal_rank(grades, relevant_from=1),
            ),
        }
    return scores, speed


def encode(model: Any, texts: Sequence[str]) -> torch.Tensor:
    """(N, k) vectors of length 1, on the device of the model."""
    found: torch.Tensor = model.encode(
        list(texts),
        batch_size=512 if model.device.type == "cuda" else 32,
        show_progress_bar=False,
        convert_to_tensor=True,
        normalize_embeddings=True,
    )
    return found.float()


def list_kinds(scores: Mapping[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the measures of all queries, then those of each kind if there are some."""
    kinds = sorted({score["kind"] for score in scores.values()})
    yield "", np.array([score["values"] for score in scores.values()])
    for kind in kinds if len(kinds) > 1 else ():
        rows = [s["values"] for s in scores.values() if s["kind"] == kind]
        yield kind, np.array(rows)


def show(model: str, where: str, rows: np.ndarray, speed: float) -> None:
    """Print a row of the table."""
    rng = np.random.default_rng(0)
    drawn = rows[rng.integers(0, len(rows), (_DRAWS, len(rows))), 0].mean(1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    means = rows.mean(0)
    interval = f"{means[0]:.3f} [{low:.3f}, {high:.3f}]"
    cells = f"{means[1]:.3f}", f"{means[2]:.3f}", f"{speed:.0f}"
    print(_ROW.format(model, where, len(rows), interval, *cells), flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
