"""Tokens of LaTeX by number."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.files import write_text

_UNKNOWN = 0
_FILE = "vocabulary.json"


class TokenVocabulary:
    """Numbers of tokens; 0 is for those without one.

    Args:
        tokens: the first has the number 1.
        longest: tokens of a formula that are read.
    """

    def __init__(self, tokens: Sequence[str], longest: int) -> None:
        self._tokens, self._longest = list(tokens), longest
        self._number = {token: n for n, token in enumerate(tokens, start=1)}

    def __len__(self) -> int:
        return len(self._tokens) + 1

    @classmethod
    def count(
        cls, formulas: Iterable[Sequence[str]], size: int, longest: int
    ) -> TokenVocabulary:
        """Take the most frequent tokens, the first in the alphabet among equals."""
        counts = Counter(token for formula in formulas for token in formula)
        ordered = sorted(counts, key=lambda token: (-counts[token], token))
        return cls(ordered[:size], longest)

    def number(self, formula: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of the tokens of a formula."""
        read = formula[: self._longest]
        found = [self._number.get(token, _UNKNOWN) for token in read]
        return np.array(found, dtype=np.int32)

    def save(self, folder: Path) -> None:
        """Write the tokens, one per line of a JSON list."""
        content = {"longest": self._longest, "tokens": self._tokens}
        text = json.dumps(content, indent=0, ensure_ascii=False)
        write_text(folder / _FILE, text)

    @classmethod
    def load(cls, folder: Path) -> TokenVocabulary:
        """Read what was written.

        Raises:
            MissingInputError: it is not there.
            MalformedInputError: the file holds something else.
        """
        path = folder / _FILE
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            return cls(found["tokens"], found["longest"])
        except FileNotFoundError as exc:
            raise MissingInputError(
                f"Expected {str(path)!r}; run the stage 'training'"
            ) from exc
        except (ValueError, KeyError, TypeError) as exc:
            raise MalformedInputError(
                f"Expected tokens of LaTeX in {str(path)!r} ({exc}); run the stage "
                "'training'"
            ) from exc
