r"""Cells of tikz-cd: ``A \arrow[r, "f"] \arrow[d, hook, "g"']``."""

from __future__ import annotations

import re

from mathamr_kedro.formula.latex.commands.arrows import (
    Arrow,
    CellTokens,
    Label,
    Place,
)

_STYLES = {
    "hook": ("hook", "hook'", "hookrightarrow", "hookleftarrow"),
    "mapsto": ("mapsto", "mapsto'", "mapsfrom"),
    "tail": ("tail", "rightarrowtail"),
    "two-heads": ("twoheads", "twoheadrightarrow"),
    "double": ("Rightarrow", "Leftarrow"),
    "equal": ("equal", "equals", "Equal"),
    "dashed": ("dashed", "dotted", "denselydashed", "denselydotted"),
    "squiggly": ("squiggly", "rightsquigarrow"),
    "line": ("dash", "nohead"),
    "both": ("leftrightarrow", "Leftrightarrow"),
    "reversed": ("leftarrow",),
    "phantom": ("phantom",),
}
_WORDS = {word: name for name, words in _STYLES.items() for word in words}
_SHORT_FORMS = {rf"\{way}ar": way for way in "r l d u dr ur dl ul".split()}
_CELL = re.compile(r"(\d{1,2})-(\d{1,2})")


class TikzCell(CellTokens):
    """A cell of ``tikzcd``."""

    commands = frozenset({r"\arrow", r"\ar", *_SHORT_FORMS})

    def read_arrow(self, command: str) -> Arrow:
        r"""Read options, or the older notation: ``\arrow{r}{f}``, ``\rar{f}``."""
        options = _Options(_SHORT_FORMS.get(command))
        if self.peek() == "[":
            options.read(self.take_brackets())
        if options.way is None and not options.ends and self.peek() == "{":
            options.way = "".join(self.take_tokens()[1:-1]).replace(" ", "")
        if self.peek() == "[":
            options.read(self.take_brackets())
        while not options.is_quoted and self.peek() == "{":
            options.labels.append(("_" if options.swaps else "^", self.take_tokens()))
        offset = self.add_steps(options.way or "")
        source = options.ends.get("from", self.place)
        if "to" in options.ends:
            row, column = options.ends["to"]
            offset = (row - source[0], column - source[1])
        arrow = self.make_arrow(offset, options.styles, options.labels)
        return arrow._replace(source=source)


class _Options:
    """What is between the square brackets of an arrow."""

    def __init__(self, way: str | None) -> None:
        self.way = way
        self.ends: dict[str, Place] = {}
        self.styles: list[str] = []
        self.labels: list[Label] = []
        self.is_quoted = False
        self.swaps = False

    def read(self, tokens: list[str]) -> None:
        for option in _split_options(tokens):
            if option[:1] == ['"']:
                self._read_label(option)
            else:
                self._read_word("".join(option).replace(" ", ""))

    def _read_label(self, option: list[str]) -> None:
        end = option.index('"', 1) if '"' in option[1:] else len(option)
        behind = "".join(option[end + 1 :])
        side = "|" if "description" in behind else "_" if "'" in behind else "^"
        self.labels.append((side, option[1:end]))
        self.is_quoted = True

    def _read_word(self, word: str) -> None:
        name, _, value = word.partition("=")
        cell = _CELL.fullmatch(value)
        if name in ("from", "to") and cell:
            self.ends[name] = (int(cell[1]) - 1, int(cell[2]) - 1)
        elif word and not word.strip("udlr"):
            self.way = word
        elif word in _WORDS:
            self.styles.append(_WORDS[word])
        elif word == "swap":
            self.swaps = True
            self.labels = [("_", tokens) for _, tokens in self.labels]
        elif word == "description":
            self.labels = [("|", tokens) for _, tokens in self.labels]


def _split_options(tokens: list[str]) -> list[list[str]]:
    """Split options at commas outside of braces and quotes."""
    options: list[list[str]] = [[]]
    depth, quoted = 0, False
    for token in tokens:
        depth += (token == "{") - (token == "}")
        quoted ^= token == '"' and not depth
        if token == "," and not depth and not quoted:
            options.append([])
        elif options[-1] or token != " ":
            options[-1].append(token)
    return options
