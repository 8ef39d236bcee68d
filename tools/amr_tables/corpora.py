"""AMR corpora: files of PENMAN blocks and the table of their splits."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mathamr_kedro.amr import AMRGraph, read_graph
from mathamr_kedro.base.errors import MalformedInputError, MissingInputError

_META = re.compile(r"::(id|snt) +(.*?)(?= +::|$)")
_WIKI = re.compile(r':wiki\s+("[^"]*"|-)')
_ALIGNMENT = re.compile(r"~e\.[\d,]+")


class AnnotatedSentence(NamedTuple):
    """A sentence with its gold graph."""

    sentence_id: str
    text: str
    graph: AMRGraph


def read_corpus(path: Path) -> Iterator[AnnotatedSentence]:
    """Read PENMAN blocks with ``# ::id`` and ``# ::snt``; ``:wiki`` is dropped.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: a block has no id or no sentence.
    """
    if not path.is_file():
        raise MissingInputError(f"Expected an AMR corpus at {str(path)!r}")
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as stream:
        blocks = re.split(r"\n\s*\n", stream.read())
    for block in blocks:
        lines = block.strip().split("\n")
        meta = {
            k: v for line in lines if line[0:1] == "#" for k, v in _META.findall(line)
        }
        text = "\n".join(line for line in lines if line[0:1] != "#")
        if not text.strip():
            continue
        if meta.keys() < {"id", "snt"}:
            raise MalformedInputError(
                f"Expected '::id' and '::snt' above a graph in {str(path)!r} "
                f"(got {lines[0][:80]!r})"
            )
        graph = read_graph(_ALIGNMENT.sub("", _WIKI.sub("", text)))
        yield AnnotatedSentence(meta["id"], meta["snt"], graph)


def _read_splits(path: Path) -> dict[tuple[str, str], str]:
    """Read ``corpus id split`` rows: which split a sentence belongs to."""
    if not path.is_file():
        raise MissingInputError(f"Expected the table of splits at {str(path)!r}")
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t")
        return {(row["corpus"], row["id"]): row["split"] for row in rows}


def read_split(folder: Path, corpus: str, split: str) -> list[AnnotatedSentence]:
    """Read the sentences of one split of a corpus in ``folder``.

    Files are named after their corpus, ``lpp.txt`` or ``lpp.txt.gz``.
    """
    splits = _read_splits(folder / "splits.tsv")
    path = folder / f"{corpus}.txt"
    if not path.is_file():
        path = folder / f"{corpus}.txt.gz"
    return [
        s for s in read_corpus(path) if splits.get((corpus, s.sentence_id)) == split
    ]
