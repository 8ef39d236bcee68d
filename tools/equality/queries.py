"""Typed queries, chosen from the posts of a data root by a fixed rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pyarrow.dataset

Query = tuple[str, str]
"""Its kind (``text``, ``formula`` or ``like``), and what is typed."""


def choose_queries(root: Path, count: int) -> list[Query]:
    """Return queries of five forms in turn, from posts spread over the collection.

    The forms: a title or first sentence with its formulas, a sentence from within,
    a formula, a short name (the three longest words), the id of a post.
    """
    files = sorted(str(file) for file in root.glob("02_intermediate/posts/*.parquet"))
    columns = ["post_id", "post_type", "text", "formula_map"]
    rows = pyarrow.dataset.dataset(files).to_table(columns).to_pylist()
    rows = [row for row in rows if row["post_type"] not in ("comment", "example")]
    rows.sort(key=lambda row: row["post_id"])
    forms = cycle((_first, _inner, _formula, _name, _id))
    found = (form(row) for form, row in zip(forms, _spread(rows), strict=False))
    return list(islice(dict.fromkeys(query for query in found if query), count))


def _spread(rows: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield all rows in an order that visits all parts of the collection early."""
    stride = max(len(rows) // 61, 1)
    for first in range(stride):
        yield from rows[first::stride]


def _sentences(row: Mapping[str, Any]) -> list[str]:
    """Return the sentences of a text, with formulas between dollars."""
    latex = {m["placeholder"]: m["latex"] for m in row["formula_map"]}
    sentences = re.split(r"(?<=[.?!])\s+|\n+", row["text"])
    return [
        re.sub(r"FORMULA_\d+", lambda m: f"${latex.get(m[0], 'x')}$", sentence).strip()
        for sentence in sentences
        if sentence.strip()
    ]


def _first(row: Mapping[str, Any]) -> Query | None:
    return ("text", sentences[0][:400]) if (sentences := _sentences(row)) else None


def _inner(row: Mapping[str, Any]) -> Query | None:
    sentences = _sentences(row)
    return ("text", sentences[len(sentences) // 2][:400]) if sentences else None


def _formula(row: Mapping[str, Any]) -> Query | None:
    latex = max((m["latex"] for m in row["formula_map"]), key=len, default="")
    return ("formula", latex) if latex.strip() else None


def _name(row: Mapping[str, Any]) -> Query | None:
    words = re.findall(r"[a-z]{4,}", re.sub(r"FORMULA_\d+", " ", row["text"]).lower())
    longest = sorted(dict.fromkeys(words), key=lambda word: (-len(word), word))[:3]
    return ("text", " ".join(longest)) if longest else None


def _id(row: Mapping[str, Any]) -> Query | None:
    return "like", row["post_id"]
