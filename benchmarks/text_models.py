"""Quality and speed of sentence encoders and adapters on a machine without Kedro.

::

    python -m benchmarks.text_models minilm encoders/mathamr_text_small \
        --sets sets/stacks_slogans sets/mathlib --out scores.json

A set is a folder with ``documents.jsonl.gz`` (``id``, ``text``) and ``queries.jsonl``
(``id``, ``kind``, ``text``, ``relevant``: ids). Every query ranks all documents but
itself by the cosine of their vectors. Where ``relevant`` has grades by id, only these
documents are ranked, and nDCG' is computed over all of them. Prints nDCG@10, recall@100
and MRR with 95 % intervals over queries, then the mean over sets of nDCG and of its
difference to the first model; writes the measures of each query.
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

from mathamr_kedro.evaluation.metrics.measures import ndcg, recall_at, reciprocal_rank
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
    found: dict[str, dict[str, Any]] = {}
    for name in options.models:
        encoded: dict[Path, tuple[list[Any], torch.Tensor, float]] = {}
        model = load_model(find_text_model(name), device)
        if device == "cuda":
            model.bfloat16()
        for folder in options.sets:
            path = (folder / "documents.jsonl.gz").resolve()  # sets may share one
            if path not in encoded:
                encoded[path] = encode_documents(model, path)
            documents, vectors, speed = encoded[path]
            scores = measure(model, folder, documents, vectors)
            found.setdefault(name, {})[folder.name] = scores
            for kind, rows in list_kinds(scores):
                show(Path(name).name, f"{folder.name} {kind}", rows, speed)
    show_means(found)
    if options.out is not None:
        options.out.write_text(json.dumps(found))
    return 0


def encode_documents(model: Any, path: Path) -> tuple[list[Any], torch.Tensor, float]:
    """Return ids and vectors of documents, and how many were encoded a second."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    started = time.perf_counter()
    vectors = encode(model, [document["text"] for document in documents])
    speed = len(documents) / (time.perf_counter() - started)
    return [document["id"] for document in documents], vectors, speed


def measure(
    model: Any, folder: Path, documents: Sequence[Any], vectors: torch.Tensor
) -> dict[str, Any]:
    """Return the measures of each query of a set."""
    queries = [json.loads(x) for x in (folder / "queries.jsonl").open(encoding="utf-8")]
    place = {key: row for row, key in enumerate(documents)}
    asked = [q for q in queries if any(key in place for key in q["relevant"])]
    cosines = encode(model, [query["text"] for query in asked]) @ vectors.T
    scores = {}
    for query, row in zip(asked, cosines, strict=True):
        if query["id"] in place:
            row[place[query["id"]]] = -2
        scores[query["id"]] = {
            "kind": query["kind"],
            "values": judge(query, row, place),
        }
    return scores


def judge(
    query: Mapping[str, Any], cosines: torch.Tensor, place: Mapping[str, int]
) -> tuple[float, float, float]:
    """Return nDCG, recall and reciprocal rank of one query."""
    known = [key for key in query["relevant"] if key in place]
    if isinstance(query["relevant"], dict):
        own = cosines[[place[key] for key in known]].cpu().numpy()
        judged = np.array([query["relevant"][key] for key in known])
        grades, depth, least = judged[np.argsort(-own, kind="stable")], len(known), 2
    else:
        top = cosines.topk(min(_DEPTH, len(cosines))).indices.cpu().numpy()
        grades = np.isin(top, [place[key] for key in known]).astype(np.int64)
        judged, depth, least = np.ones(len(known), dtype=np.int64), 10, 1
    return (
        ndcg(grades, judged, k=depth),
        recall_at(grades, judged, _DEPTH, relevant_from=least),
        reciprocal_rank(grades, relevant_from=least),
    )


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


def show_means(found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Print the mean over sets, each of one weight, and its difference to the first."""
    rng = np.random.default_rng(0)
    first, *_ = found.values()
    sizes = [len(scores) for scores in first.values()]
    drawn = [rng.integers(0, size, (_DRAWS, size)) for size in sizes]
    start: list[np.ndarray] = []
    for name, sets in found.items():
        own = [
            np.array([score["values"][0] for score in scores.values()])
            for scores in sets.values()
        ]
        start = start or own
        cells = []
        for parts in (own, [a - b for a, b in zip(own, start, strict=True)]):
            means = [
                part[rows].mean(1) for part, rows in zip(parts, drawn, strict=True)
            ]
            low, high = np.quantile(np.mean(means, axis=0), (0.025, 0.975))
            mean = np.mean([part.mean() for part in parts])
            cells.append(f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]")
        print(f"{Path(name).name:28} mean of {len(own)} sets", *cells, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
