"""A list of tokens and the place reached in it."""

from __future__ import annotations

from mathamr_kedro.formula.latex.tokens import END

_LENGTH_CHARS = frozenset("0123456789.- ")
_UNITS = frozenset({"pt", "em", "ex", "mu", "cm", "mm", "in", "pc", "bp", "px"})


class TokenStream:
    """Tokens that are taken one by one; :data:`END` is never taken.

    Args:
        tokens: the tokens, ended by :data:`END`.
    """

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.i = 0

    def peek(self) -> str:
        """Return the next token that is no space, without taking it."""
        while self.tokens[self.i] == " ":
            self.i += 1
        return self.tokens[self.i]

    def take(self) -> str:
        """Take the next token that is no space; at the end, nothing."""
        token = self.peek()
        if token is not END:
            self.i += 1
        return token

    def skip_if(self, token: str) -> bool:
        """Take the next token if it is ``token``."""
        if self.peek() != token:
            return False
        self.i += 1
        return True

    def take_raw_argument(self) -> str:
        """Take an argument that is no math, e.g. a name or a length."""
        tokens = self.take_tokens()
        if tokens[:1] == ["{"]:
            return "".join(tokens[1:-1])
        return "".join(tokens)

    def take_tokens(self) -> list[str]:
        """Take the tokens of an argument, with both braces if it has any."""
        token = self.take()
        if token != "{":
            return [token] if token else []
        start = self.i
        depth = 1
        while depth:
            token = self.tokens[self.i]
            if token is END:
                return ["{", *self.tokens[start : self.i], "}"]
            self.i += 1
            depth += (token == "{") - (token == "}")
        return ["{", *self.tokens[start : self.i]]

    def take_option_tokens(self) -> list[str] | None:
        """Take the tokens between square brackets, if they come next."""
        if self.peek() != "[":
            return None
        start = place = self.i + 1
        depth = 0
        while self.tokens[place] is not END:
            token = self.tokens[place]
            if token == "]" and not depth:
                break
            depth += (token == "{") - (token == "}")
            if depth < 0:
                break
            place += 1
        self.i = place + (self.tokens[place] == "]")
        return self.tokens[start:place]

    def take_raw_option(self) -> str | None:
        """Take what stands between square brackets, if they come next."""
        tokens = self.take_option_tokens()
        return None if tokens is None else "".join(tokens)

    def take_length(self) -> str:
        """Take a length without braces, e.g. ``-3pt``; nothing if there is none."""
        start = self.i
        while self.tokens[self.i] in _LENGTH_CHARS:
            self.i += 1
        unit = "".join(self.tokens[self.i : self.i + 2])
        if unit not in _UNITS:
            self.i = start
            return ""
        self.i += 2
        return "".join(self.tokens[start : self.i])
