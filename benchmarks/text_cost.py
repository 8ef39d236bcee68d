r"""How the cost of reading texts grows with their length, beside slow twins.

Run from the project root::

    python -m benchmarks.text_cost [--longest 80000]

Hostile texts of doubling length are split into sentences and cleaned. The slope is that
of the logarithm of the time against the logarithm of the length: 1 is linear, 2
quadratic. The twin is what the code would be with plain regular expressions; it stops
where it needs more than a second.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence

from benchmarks.slow_cleaning import clean_slowly
from mathamr_kedro.amr import split_chunks
from mathamr_kedro.corpus import clean_text
from tests.amr import slow_chunking

SENTENCES = {
    "prose": "The sum of two even numbers is even, and so is their product. ",
    "dots": ".",
    "dots and blanks": ". ",
    "one long word": "x",
}
MARKUP = {
    "posts": '<p>Let <span class="math-container" id="1">x</span> be $y$.</p>\n',
    "<!--": "<!--",
    r"\(": r"\(",
    r"\begin{align}": r"\begin{align}",
    "tabs": "\t",
    "math spans": '<span class="math-container">',
    "quotes": "<a \"<a '\" '",
    "blanks of LaTeX": r"\quad",
}
_SHORTEST = 2_500
_PATIENCE = 1.0
"""Seconds after which a function is not asked for more."""


def measure_slope(
    read: Callable[[str], object], piece: str, lengths: Sequence[int]
) -> tuple[float, int, float]:
    """Return the slope, the longest text that was read, and its seconds."""
    points: list[tuple[int, float]] = []
    for length in lengths:
        text = (piece * (length // len(piece) + 1))[:length]
        started = time.process_time()
        read(text)
        points.append((length, max(time.process_time() - started, 1e-7)))
        if points[-1][1] > _PATIENCE:
            break
    # Short texts measure the overhead of a call; the last two doublings do not.
    (first, before), (last, after) = points[max(len(points) - 3, 0)], points[-1]
    slope = math.log(after / before) / math.log(last / first) if last > first else 0.0
    return slope, last, after


def split_slowly(text: str) -> list[str]:
    """Split sentences as the slow twin does."""
    return slow_chunking.split_sentences(text)


def clean(text: str) -> object:
    """Clean HTML; a formula around it for what is only in formulas."""
    return clean_text("", f"{text}${text.replace('$', '')} x.$", "1")


def main() -> None:
    """Print a row for each kind of text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--longest", type=int, default=80_000, help="characters")
    longest = parser.parse_args().longest
    doublings = range(int(math.log2(max(longest / _SHORTEST, 2))) + 1)
    lengths = [_SHORTEST * 2**n for n in doublings]
    print(
        f"{'':12}{'text':18}{'slope':>6}{'s':>8}{'  twin':>10}{'s':>8}{'of chars':>10}"
    )
    for stage, pieces, fast, slow in (
        ("splitting", SENTENCES, split_chunks, split_slowly),
        ("cleaning", MARKUP, clean, clean_slowly),
    ):
        for name, piece in pieces.items():
            slope, _, seconds = measure_slope(fast, piece, lengths)
            twin, reached, waited = measure_slope(slow, piece, lengths)
            print(
                f"{stage:12}{name:18}{slope:6.2f}{seconds:8.3f}{twin:10.2f}"
                f"{waited:8.3f}{reached:10,}"
            )


if __name__ == "__main__":
    main()
