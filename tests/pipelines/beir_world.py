"""A tiny benchmark in the form of BEIR, as canonical as we write one ourselves."""

from __future__ import annotations

import json
from pathlib import Path

DOCUMENTS = {
    "d1": ("Roots", r"Suppose that $\sqrt{2} = \frac{a}{b}$. Then $a^2 = 2b^2$."),
    "d2": ("", r"The integral $\int x e^x dx$ is $(x-1)e^x + C$."),
    "d3": ("Primes", "Multiply all primes and add one. A new prime divides it."),
    "d4": ("", r"Let $R$ be a ring. Then $R$ has a maximal ideal."),
    "d5": ("Ideals", r"Let $R$ be a ring. A maximal ideal of $R$ is prime."),
}
QUERIES = {
    "q1": r"Why is $\sqrt{2}$ irrational?",
    "q2": "Are there infinitely many primes?",
    "d4": r"Let $R$ be a ring. Then $R$ has a maximal ideal.",
    "q3": r"How can I integrate $x e^x$ by parts?",
}
TEST = [("q1", "d1", 2), ("q1", "d3", 0), ("q2", "d3", 1), ("d4", "d5", 1)]
TRAIN = [("q3", "d2", 1), ("d4", "d5", 1)]


def write_benchmark(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    documents = [
        {"_id": i, "title": title, "text": text, "metadata": {}}
        for i, (title, text) in DOCUMENTS.items()
    ]
    queries = [{"_id": i, "text": t, "metadata": {}} for i, t in QUERIES.items()]
    for name, rows in (("corpus", documents), ("queries", queries)):
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    for split, judged in (("test", TEST), ("train", TRAIN)):
        lines = ["query-id\tcorpus-id\tscore\n"]
        lines += [f"{query}\t{i}\t{grade}\n" for query, i, grade in judged]
        (folder / "qrels" / f"{split}.tsv").write_text("".join(lines))
    return folder
