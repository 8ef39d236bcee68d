r"""What the preamble of a LaTeX document declares: theorems, environments, a title.

```
\newtheorem{thm}{Theorem}[section]     \declaretheorem[sibling=thm]{lemma}
\numberwithin{equation}{section}       \newenvironment{note}{\begin{quote}}{\end{quote}}
\externaldocument[algebra-]{algebra}   \title{On primes}
```
"""

from __future__ import annotations

import re
from collections.abc import Callable

from mathamr_kedro.corpus.latex_arguments import LatexArguments
from mathamr_kedro.corpus.latex_counters import LatexCounters
from mathamr_kedro.corpus.latex_definitions import LatexMacro

_SETTING = re.compile(r"(\w+)\s*=\s*(\{[^{}]*\}|[^,{}]*)")
_COUNT = re.compile(r"[1-9]")
# Environments that keep their meaning, however a class prints them.
_KEPT = frozenset(("proof", "abstract", "document", "enumerate", "itemize"))


class LatexPreamble:
    """The declarations of a document, wherever they stand in it."""

    COMMANDS = (
        "newtheorem", "spnewtheorem", "newmdtheoremenv", "declaretheorem",
        "numberwithin", "counterwithin", "newenvironment", "renewenvironment",
        "excludecomment", "externaldocument", "title",
    )  # fmt: skip

    def __init__(self) -> None:
        self.title = ""
        self.counters = LatexCounters()
        self.environments: dict[str, tuple[LatexMacro, str]] = {}
        """Environments of the author's own: what starts and what ends them."""
        self.comments = {"comment"}
        """Environments whose text is left out."""
        self.externals: dict[str, str] = {}
        """Other documents that labels may come from: file to prefix, in their order."""

    def read(
        self,
        command: str,
        text: str,
        place: int,
        arguments: LatexArguments,
        expand: Callable[[str], str],
    ) -> int | None:
        """Take up what a command declares.

        Args:
            command: one of :attr:`COMMANDS`.
            text: in which it stands.
            place: the end of its name.
            arguments: the reader of ``text``.
            expand: expands the macros of a text.

        Returns:
            The end of the declaration; ``None``: it cannot be read.
        """
        is_starred = text.startswith("*", place)
        place += is_starred
        if command in ("newtheorem", "spnewtheorem", "newmdtheoremenv"):
            extra = 2 if command == "spnewtheorem" else 0
            return self._read_theorem(place, arguments, is_starred, expand, extra)
        if command.endswith(("theorem", "environment")):
            is_theorem = command == "declaretheorem"
            read = self._read_thmtools if is_theorem else self._read_environment
            return read(place, arguments)
        option = arguments.read_option(place)
        first = arguments.read_group(place if option is None else option[1])
        if first is None:
            return None
        if command in ("numberwithin", "counterwithin"):
            second = arguments.read_group(first[1])
            parent = "" if second is None else second[0].strip()
            self.counters.number_within(first[0].strip(), parent)
            return (second or first)[1]
        if command == "externaldocument":
            self.externals[first[0].strip()] = "" if option is None else option[0]
        elif command == "excludecomment":
            self.comments.add(first[0].strip())
        else:
            self.title = expand(first[0])
        return first[1]

    def _read_theorem(
        self,
        place: int,
        arguments: LatexArguments,
        is_starred: bool,
        expand: Callable[[str], str],
        extra: int,
    ) -> int | None:
        name = arguments.read_group(place)
        shared = None if name is None else arguments.read_option(name[1])
        printed = None if name is None else arguments.read_group((shared or name)[1])
        if name is None or printed is None:
            return None
        within = arguments.read_option(printed[1])
        end = (within or printed)[1]
        for _ in range(extra):  # how to print it
            style = arguments.read_group(end)
            end = end if style is None else style[1]
        self.counters.declare(
            name[0].strip(),
            expand(printed[0]),
            None if shared is None else shared[0].strip(),
            None if within is None else within[0].strip(),
            not is_starred,
        )
        return end

    def _read_thmtools(self, place: int, arguments: LatexArguments) -> int | None:
        before = arguments.read_option(place)
        names = arguments.read_group(place if before is None else before[1])
        if names is None:
            return None
        after = arguments.read_option(names[1])
        options = ",".join(found[0] for found in (before, after) if found is not None)
        settings = {k: v.strip("{} ") for k, v in _SETTING.findall(options)}
        shared = next(
            (
                settings[k]
                for k in ("sibling", "sharenumber", "numberlike")
                if k in settings
            ),
            None,
        )
        within = next(
            (
                settings[k]
                for k in ("numberwithin", "parent", "within")
                if k in settings
            ),
            None,
        )
        is_numbered = settings.get("numbered", "yes") not in ("no", "unless unique")
        for name in map(str.strip, names[0].split(",")):
            printed = settings.get("name") or settings.get("title") or name
            self.counters.declare(name, printed, shared, within, is_numbered)
        return names[1] if after is None else after[1]

    def _read_environment(self, place: int, arguments: LatexArguments) -> int | None:
        name = arguments.read_group(place)
        if name is None:
            return None
        count = arguments.read_option(name[1])
        default = None if count is None else arguments.read_option(count[1])
        opening = arguments.read_group((default or count or name)[1])
        closing = None if opening is None else arguments.read_group(opening[1])
        if opening is None or closing is None:
            return None
        key = name[0].strip()
        number = _COUNT.fullmatch(count[0].strip()) if count is not None else None
        if r"\comment" in opening[0]:
            self.comments.add(key)
        elif key not in _KEPT and self.counters.find(key) is None:
            given = None if default is None else default[0]
            arity = int(number[0]) if number is not None else 0
            macro = LatexMacro(key, opening[0], arity, given)
            self.environments[key] = (macro, closing[0])
        return closing[1]
