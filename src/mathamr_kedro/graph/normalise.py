"""Node types from labels: what the embedding table tells apart (thesis 3.3.1).

```
label            node type
functions        function          a plain AMR concept: Porter stem
solve-01         solve-01          a PropBank frame is normal already
V!𝑥              V!x               NFKC: 𝑥 is x, ℝ is R, ﬁ is fi
http://a.b/c     [URL]
N!1729           [UNKNUM_INT]      where it is rare; that the vocabulary decides
```
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from nltk.stem.porter import PorterStemmer

from mathamr_kedro.graph.math_graph import read_placeholder
from mathamr_kedro.graph.penman_graph import read_label
from mathamr_kedro.graph.vocabulary import URL, classify_number

_FRAME = re.compile(r".+-\d{2,3}")
_STEMMER = PorterStemmer()


def normalise_symbol(atom: str) -> str:
    """Return the node type of a symbol of a formula, or of a constant of the AMR.

    >>> [normalise_symbol(atom) for atom in ("V!𝑥", "N!２", '"www.example.org"', "-")]
    ['V!x', 'N!2', '[URL]', '-']
    """
    label = unicodedata.normalize("NFKC", read_label(atom))
    return URL if "http" in label or "www." in label else label


def normalise_concept(atom: str) -> str:
    """Return the node type of a concept of the AMR.

    >>> [normalise_concept(a) for a in ("functions", "solve-01", "FORMULA_3", "1.5")]
    ['function', 'solve-01', 'FORMULA_3', '1.5']
    """
    label = normalise_symbol(atom)
    is_normal = (
        label == URL
        or _FRAME.fullmatch(label)
        or read_placeholder(label) is not None
        or classify_number(label) is not None
    )
    return label if is_normal else _stem(label)


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return _STEMMER.stem(word)
