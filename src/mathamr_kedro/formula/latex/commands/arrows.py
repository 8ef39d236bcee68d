r"""Arrows of diagrams, and the cells of a table beside which they are written.

An arrow has a direction (``r`` right, ``d`` down, ``ddr`` ...: the way from the object
it starts from), styles in plain words (``hook``, ``two-heads`` ...) and labels.
What only moves or bends an arrow is read and dropped.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from mathamr_kedro.formula.latex.tokens import END, TokenStream

Place = tuple[int, int]
"""Row and column of a cell, from zero; or how far down and to the right."""

Label = tuple[str, list[str]]
"""The side of a label (``^``, ``_``, ``|`` for within) and its tokens."""

_SIGNS = dict(
    zip(
        [(0, 1), (0, -1), (-1, 0), (1, 0), (-1, 1), (-1, -1), (1, 1), (1, -1), (0, 0)],
        "→←↑↓↗↖↘↙↻",
        strict=True,
    )
)
_STYLED_SIGNS = {
    "hook": dict(zip("→←", "↪↩", strict=True)),
    "mapsto": dict(zip("→←↑↓", "↦↤↥↧", strict=True)),
    "tail": dict(zip("→←", "↣↢", strict=True)),
    "two-heads": dict(zip("→←↑↓", "↠↞↟↡", strict=True)),
    "double": dict(zip("→←↑↓↗↖↘↙", "⇒⇐⇑⇓⇗⇖⇘⇙", strict=True)),
    "equal": dict(zip("→←↑↓", "==∥∥", strict=True)),
    "dashed": dict(zip("→←↑↓", "⇢⇠⇡⇣", strict=True)),
    "squiggly": dict(zip("→←", "⇝⇜", strict=True)),
}


class Arrow(NamedTuple):
    """An arrow of a diagram."""

    source: Place
    offset: Place
    styles: tuple[str, ...]
    labels: tuple[Label, ...]
    is_damaged: bool = False

    @property
    def direction(self) -> str:
        """The way to its end: ``r``, ``ddr``; empty for a loop."""
        down, right = self.offset
        vertical = ("d" if down > 0 else "u") * abs(down)
        return vertical + ("r" if right > 0 else "l") * abs(right)

    @property
    def name(self) -> str:
        """What the operator tree calls it: ``arrow-r-hook``."""
        return "-".join(["arrow", *filter(None, [self.direction]), *self.styles])

    @property
    def sign(self) -> str:
        """What the layout tree shows of it; a long one with its direction."""
        down, right = self.offset
        sign = _SIGNS[(down > 0) - (down < 0), (right > 0) - (right < 0)]
        for style in self.styles:
            sign = _STYLED_SIGNS.get(style, {}).get(sign, sign)
        return sign + self.direction if max(abs(down), abs(right)) > 1 else sign


class CellTokens(TokenStream):
    """The tokens of one cell: an object and the arrows that are written beside it.

    Args:
        tokens: of the cell.
        place: of the cell.
    """

    commands: ClassVar[frozenset[str]]
    """Those that make an arrow."""

    def __init__(self, tokens: list[str], place: Place) -> None:
        super().__init__([*tokens, END])
        self.place = place
        self.is_damaged = False

    def read_arrow(self, command: str) -> Arrow:
        """Return the arrow whose command was taken."""
        raise NotImplementedError

    def take_entry(self) -> list[str]:
        """Take what begins the cell and has a notation of its own."""
        return []

    def split(self) -> tuple[list[str], list[Arrow]]:
        """Return the tokens of the object, and the arrows."""
        rest = self.take_entry()
        arrows: list[Arrow] = []
        environments = 0
        while (token := self.tokens[self.i]) is not END:
            if token == "{":
                rest += self.take_tokens()
                continue
            self.i += 1
            if environments or token not in self.commands:
                environments += (token == r"\begin") - (token == r"\end")
                rest.append(token)
            else:
                self.is_damaged = False
                arrows.append(self.read_arrow(token))
        return rest, arrows

    def take_brackets(self) -> list[str]:
        """Take the tokens between square brackets, which come next."""
        tokens = self.take_option_tokens() or []
        if self.tokens[self.i - 1] != "]":
            self.is_damaged = True
        return tokens

    def make_arrow(
        self, offset: Place, styles: list[str], labels: list[Label]
    ) -> Arrow:
        """Return an arrow that starts here; each style counts once, blanks do not."""
        shown = [(side, t) for side, t in labels if not {"{", "}", " "}.issuperset(t)]
        names = tuple(dict.fromkeys(styles))
        return Arrow(self.place, offset, names, tuple(shown), self.is_damaged)

    def add_steps(self, way: str) -> Place:
        """Return how far a way of letters leads; other letters are a damage."""
        if way.strip("udlr"):
            self.is_damaged = True
        return way.count("d") - way.count("u"), way.count("r") - way.count("l")
