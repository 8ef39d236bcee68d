r"""What a formula is made of between the reader and the trees.

```
reader    a list of items: symbols, fractions, arrays, script marks, hints
grammar   one item: applications over symbols, with scripts attached
trees     an application has a content (operator tree) and a drawing (layout tree);
          a Dual holds the two if they differ: (a) means a and draws parentheses
```

All items answer to ``role`` (their part of speech, or None), ``place`` (where their
scripts are), ``meaning``, ``text`` (what they show, as far as fences and separators
go), ``key`` (the name by which the grammar knows a symbol) and ``with_role``.
"""

from __future__ import annotations

from typing import TypeAlias, Union

from mathamr_kedro.formula.labels import ERROR, clean_text
from mathamr_kedro.formula.latex.symbols import Symbol

Item: TypeAlias = Union[
    Symbol,
    "App",
    "Script",
    "Dual",
    "Row",
    "Array",
    "Text",
    "Undefined",
    "Enclosed",
    "Hint",
    "ScriptMark",
]


class _Plain:
    """Default answers of an item."""

    __slots__ = ()
    role: str | None = None
    place = ""
    meaning: str | None = None
    text = ""
    key = ""
    is_empty = False

    def with_role(self, role: str | None, place: str = "") -> Item:
        """Return an item that looks the same and acts in ``role``."""
        return Row([self], role, place)  # type: ignore[list-item]


class App(_Plain):
    """An operator over its operands; fractions and roots too."""

    __slots__ = ("args", "op")

    def __init__(self, op: Item, args: list[Item]) -> None:
        self.op = op
        self.args = args

    def with_role(self, role: str | None, place: str = "") -> RoleApp:
        """Return the application as a symbol."""
        return RoleApp(self.op, self.args, role, place)

    def __repr__(self) -> str:
        return f"App({self.op!r}, {self.args!r})"


class RoleApp(App):
    """An application that acts as a symbol: an arrow with a word above it."""

    __slots__ = ("place", "role")

    def __init__(
        self, op: Item, args: list[Item], role: str | None = None, place: str = ""
    ) -> None:
        self.op = op
        self.args = args
        self.role = role
        self.place = place


class Script(_Plain):
    """A base with one script; several scripts nest.

    Args:
        base: what carries the script.
        script: the script itself.
        up: whether it is above.
        place: ``pre``, ``mid`` or ``post``.
        level: depth of braces where it was written; scripts of different levels
            do not share a column.
        role: role of the base if the base is an operator.
    """

    __slots__ = (
        "base",
        "bump",
        "floats",
        "level",
        "outer",
        "place",
        "role",
        "script",
        "up",
    )

    def __init__(
        self,
        base: Item,
        script: Item,
        up: bool,
        place: str,
        level: int,
        role: str | None = None,
    ) -> None:
        self.base = base
        self.script = script
        self.up = up
        self.place = place
        self.level = level
        self.role = role
        self.floats = False
        self.bump = 0
        self.outer = ""  # where further scripts go, if not to the same place

    def with_role(self, role: str | None, place: str = "") -> Script:
        """Return a copy in another role; its scripts stay where they are."""
        copy = Script(self.base, self.script, self.up, self.place, self.level, role)
        copy.floats, copy.bump = self.floats, self.bump
        return copy

    def __repr__(self) -> str:
        return f"Script({self.base!r}, {'^' if self.up else '_'}{self.script!r})"


class Dual(_Plain):
    """Something that means one thing and is drawn as another."""

    __slots__ = ("content", "drawing", "role")

    def __init__(self, content: Item, drawing: Item, role: str | None = None) -> None:
        self.content = content
        self.drawing = drawing
        self.role = role

    @property
    def place(self) -> str:  # type: ignore[override]
        """Where the scripts of the content are."""
        return self.content.place

    def with_role(self, role: str | None, place: str = "") -> Dual:
        """Return the same in another role; the content decides on the place."""
        return Dual(self.content, self.drawing, role)

    def __repr__(self) -> str:
        return f"Dual({self.content!r})"


class Row(_Plain):
    """Items side by side: a drawing, or what the grammar could not read."""

    __slots__ = ("items", "place", "role")

    def __init__(
        self, items: list[Item], role: str | None = None, place: str = ""
    ) -> None:
        self.items = items
        self.role = role
        self.place = place

    @property
    def text(self) -> str:  # type: ignore[override]
        """What its items show."""
        return "".join([item.text for item in self.items])

    @property
    def key(self) -> str:  # type: ignore[override]
        """The key of an item by itself."""
        return self.items[0].key if len(self.items) == 1 else ""

    def with_role(self, role: str | None, place: str = "") -> Row:
        """Return the row in another role."""
        return Row(self.items, role, place)

    def __repr__(self) -> str:
        return f"Row({self.items!r})"


class Array(_Plain):
    """Cells in rows; an empty cell is None."""

    __slots__ = ("role", "rows")

    def __init__(self, rows: list[list[Item | None]], role: str | None = None) -> None:
        self.rows = rows
        self.role = role

    def __repr__(self) -> str:
        return f"Array({self.rows!r})"


class Text(_Plain):
    """Words (drawn as ``T!``) and formulas among them.

    Args:
        parts: both.
        named: whether the operator tree keeps them; the published ones do not.
    """

    __slots__ = ("named", "parts")

    def __init__(self, parts: list[str | Item], named: bool = False) -> None:
        self.parts = parts
        self.named = named

    def __repr__(self) -> str:
        return f"Text({self.parts!r})"


class Undefined(_Plain):
    """An undefined command; ``named`` as for :class:`Text`."""

    __slots__ = ("command", "named")

    def __init__(self, command: str, named: bool = False) -> None:
        self.command = command
        self.named = named

    @property
    def label(self) -> str:
        """An error, named or not."""
        return ERROR + clean_text(self.command.lstrip("\\")) if self.named else ERROR

    def __repr__(self) -> str:
        return f"Undefined({self.command})"


class Enclosed(_Plain):
    """An item with a box or a line around it; means what the item means."""

    __slots__ = ("inner", "notation")

    def __init__(self, inner: Item, notation: str) -> None:
        self.inner = inner
        self.notation = notation

    @property
    def role(self) -> str | None:  # type: ignore[override]
        """The role of what is enclosed; a script in a box is no script any more."""
        return None if self.inner.__class__ is ScriptMark else self.inner.role


class Hint(_Plain):
    """Space between symbols.

    Args:
        width: in points at ten points to the em.
        char: the space character it may become inside a number; empty if none.
        phantom: whether it keeps the place of something unseen.
    """

    __slots__ = ("char", "phantom", "width")
    role = "PUNCT"  # what a hint of a quad or more becomes; others are dropped
    is_empty = True

    def __init__(self, width: float, char: str = "", phantom: bool = False) -> None:
        self.width = width
        self.char = char
        self.phantom = phantom


class ScriptMark(_Plain):
    """A script that has not found its base yet."""

    __slots__ = ("floats", "level", "place", "role", "script", "up")

    def __init__(self, script: Item, up: bool, floats: bool, level: int) -> None:
        self.script = script
        self.up = up
        self.floats = floats
        self.level = level
        self.place = ""
        self.role = _SCRIPT_ROLES[floats, up]

    def __repr__(self) -> str:
        return f"ScriptMark({self.role}, {self.script!r})"


_SCRIPT_ROLES = {
    (False, False): "POSTSUBSCRIPT",
    (False, True): "POSTSUPERSCRIPT",
    (True, False): "FLOATSUBSCRIPT",
    (True, True): "FLOATSUPERSCRIPT",
}
