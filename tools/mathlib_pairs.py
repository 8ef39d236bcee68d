"""Docstrings of mathlib and what they describe, as pairs for a text adapter.

::

    python -m tools.mathlib_pairs mathlib.jsonl.gz mathlib_pairs.jsonl.gz

The first file has a record for each declaration with ``name``, ``doc`` and
``signature``; the second gets ``question`` (the docstring) and ``answer`` (the words of
the name, and the signature).
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path

_SHORTEST = 16
"""Characters of a docstring that says something."""
_HUMP = re.compile(r"([a-z])([A-Z])")


def split_name(name: str) -> str:
    """Return the words of a declaration's name.

    >>> split_name("Nat.exists_infinite_primes"), split_name("AddConstMap")
    ('Nat exists infinite primes', 'Add Const Map')
    """
    return _HUMP.sub(r"\1 \2", re.sub(r"[._]+", " ", name))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pairs; print how many there are."""
    parser = argparse.ArgumentParser(prog="python -m tools.mathlib_pairs")
    parser.add_argument("declarations", type=Path)
    parser.add_argument("pairs", type=Path)
    options = parser.parse_args(arguments)
    count = 0
    with (
        gzip.open(options.declarations, "rt", encoding="utf-8") as lines,
        gzip.open(options.pairs, "wt", encoding="utf-8") as file,
    ):
        for record in map(json.loads, lines):
            if len(record["doc"]) >= _SHORTEST:
                answer = f"{split_name(record['name'])}: {record['signature']}"
                pair = {"question": record["doc"], "answer": answer}
                file.write(json.dumps(pair) + "\n")
                count += 1
    print(f"{count:,} pairs in {options.pairs}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
