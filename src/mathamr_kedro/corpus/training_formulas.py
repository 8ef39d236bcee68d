"""Formulas to learn from beyond those that a search may return.

```
returnable formulas ──┬──► systems that learn from formulas by themselves
posts and examples ───┤    (each different formula once)
topics of some years ─┤
further files ────────┘
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mathamr_kedro.base.records import FormulaInstance, Post, Topic
from mathamr_kedro.corpus.extraction import PostCleaner, clean_in_batches
from mathamr_kedro.corpus.own_files import read_examples
from mathamr_kedro.corpus.raw import ExampleFiles


@dataclass(frozen=True)
class TrainingFormulas:
    """Which formulas may be learnt from, beside those that may be returned."""

    posts: bool = False
    """Those of all posts, also of examples, which no search returns."""
    topics: tuple[int, ...] = ()
    """Years whose topics are no test topics."""
    files: tuple[ExampleFiles, ...] = ()
    """Further texts, for collections without posts."""


def list_different(texts: Iterable[Post | Topic]) -> list[FormulaInstance]:
    """Return the first instance of each formula of some texts."""
    found: dict[str, FormulaInstance] = {}
    for text in texts:
        for m in text.formula_map:
            formula = FormulaInstance(m.formula_id, m.visual_id, text[0], m.latex)
            found.setdefault(m.visual_id, formula)
    return list(found.values())


def read_formulas(
    path: Path, kind: ExampleFiles, texts_at_once: int
) -> Iterator[list[FormulaInstance]]:
    """Yield the different formulas of a file of texts, some texts at a time."""
    raw = read_examples(path, path.name, kind.markup, kind.titles)
    for batch in clean_in_batches(raw, PostCleaner(), texts_at_once):
        yield list_different(batch.records)
