"""Tuples as words of private characters, the input of TangentCFT's fastText model.

```
(V!x, N!2, a)   tokens   V!  x  N!  2     path  a        mode "both_separated"
                word     one character for each token, one for each edge
```

Mansouri et al. 2019. A formula is the sequence of the words of its tuples; since each
token is one character, fastText's character n-grams are n-grams of tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from mathamr_kedro.base.errors import ConfigurationError, FormulaError, suggest
from mathamr_kedro.formula.tree import FormulaTree
from mathamr_kedro.formula.tuples import SymbolPair

TokenMode: TypeAlias = Literal["both_separated", "type", "value", "whole"]
_MODES = ("both_separated", "type", "value", "whole")
CFT_WINDOW = 2

# Tokens live in the planes above the first, edges in its private area: no character of
# a formula, no white space and no surrogate can be met there.
_FIRST_TOKEN = 0x10000
_LAST_TOKEN = 0x10FFFF
_FIRST_EDGE = 0xE000
_LAST_EDGE = 0xF8FF


class TupleEncoder:
    """Gives each token and each edge a character, in the order of first meeting.

    >>> encoder = TupleEncoder()
    >>> len(encoder.encode(SymbolPair("V!x", "N!2", "a", "-")))
    5
    """

    def __init__(
        self, mode: TokenMode = "both_separated", split_numbers: bool = True
    ) -> None:
        if mode not in _MODES:
            raise ConfigurationError(
                f"Expected one of {list(_MODES)} for mode (got {mode!r})"
                f"{suggest(str(mode), _MODES)}"
            )
        self.mode = mode
        self.split_numbers = split_numbers
        self.tokens: dict[str, str] = {}
        self.edges: dict[str, str] = {}

    @classmethod
    def restore(
        cls,
        tokens: Mapping[str, str],
        edges: Mapping[str, str],
        mode: TokenMode = "both_separated",
        split_numbers: bool = True,
    ) -> TupleEncoder:
        """Return an encoder that continues the maps of an earlier one."""
        encoder = cls(mode, split_numbers)
        encoder.tokens.update(tokens)
        encoder.edges.update(edges)
        return encoder

    def split(self, pair: SymbolPair) -> list[str]:
        """Return the tokens of both labels of a tuple, each a character of its word."""
        return [
            token
            for label in (pair.first, pair.second)
            for token in split_label(label, self.mode, self.split_numbers)
        ]

    def encode(self, pair: SymbolPair) -> str:
        """Return the word of one tuple: both labels, then the path between them.

        Raises:
            FormulaError: there are more distinct tokens than characters.
        """
        tokens = self.split(pair)
        symbols = self._write(self.tokens, tokens, _FIRST_TOKEN, _LAST_TOKEN)
        return symbols + self._write(self.edges, pair.path, _FIRST_EDGE, _LAST_EDGE)

    def encode_tree(
        self, tree: FormulaTree, window: int = CFT_WINDOW, eob: bool = True
    ) -> list[str]:
        """Return the words of a formula: its tuples in order."""
        return [self.encode(pair) for pair in tree.tuples(window, eob)]

    @staticmethod
    def _write(
        known: dict[str, str], parts: Iterable[str], first: int, last: int
    ) -> str:
        out = []
        for part in parts:
            if part not in known:
                if first + len(known) > last:
                    raise FormulaError(
                        f"Expected at most {last - first + 1} distinct tokens "
                        f"(no character is left for {part!r})"
                    )
                known[part] = chr(first + len(known))
            out.append(known[part])
        return "".join(out)


def split_label(
    label: str, mode: TokenMode = "both_separated", split_numbers: bool = True
) -> list[str]:
    """Return the tokens of a label.

    Args:
        label: e.g. ``"N!12"``.
        mode: ``"both_separated"`` type and value as two tokens, ``"type"`` or
            ``"value"`` one of them, ``"whole"`` the label as it is.
        split_numbers: give each digit of a number a token of its own.

    >>> split_label("N!12"), split_label("+"), split_label("V!x", "whole")
    (['N!', '1', '2'], ['+'], ['V!x'])
    """
    kind, mark, value = label.partition("!")
    if not mark or mode == "whole":
        return [label]
    digits = list(value) if kind == "N" and split_numbers else [value]
    values = [digit for digit in digits if digit]
    if mode == "type":
        return [kind + mark]
    if mode == "value":
        return values
    return [kind + mark, *values]
