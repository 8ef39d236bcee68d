r"""Declarations of a LaTeX preamble: theorems, environments, a title.

```
\newtheorem{thm}{Theorem}[section]     Theorem 2.1     within the section
\newtheorem{lem}[thm]{Lemma}           Lemma 2.2       counted with the theorems
\newtheorem*{claim}{Claim}             Claim

\declaretheorem[sibling=thm]{lemma}    \numberwithin{equation}{section}
\title{On primes}                      \newenvironment{note}{\begin{quote}}{\end{quote}}
\externaldocument[algebra-]{algebra}
```
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from mathamr_kedro.formula.latex.macros import LatexArguments, LatexMacro

_SETTING = re.compile(r"(\w+)\s*=\s*(\{[^{}]*\}|[^,{}]*)")
_SHARED = ("sibling", "sharenumber", "numberlike")
_WITHIN = ("numberwithin", "parent", "within")
_COUNT = re.compile(r"[1-9]")
# Environments that keep their meaning, however a class prints them.
_KEPT = frozenset(("proof", "abstract", "document", "enumerate", "itemize"))


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MAX_DEPTH = 20  # of counters within counters; more is a circle
STATEMENTS = (
    "theorem", "lemma", "proposition", "corollary", "definition", "remark", "example",
    "exercise", "claim", "conjecture",
)  # fmt: skip
"""Kinds of things that authors number, in environments and labels."""
SHORT_NAMES = {
    "thm": "theorem", "lem": "lemma", "prop": "proposition", "cor": "corollary",
    "defn": "definition", "rem": "remark", "rmk": "remark", "ex": "example",
    "exer": "exercise", "conj": "conjecture",
}  # fmt: skip
"""Their abbreviations."""
# Classes and packages define these without a \newtheorem in sight.
_USUAL = {
    **SHORT_NAMES,
    "lma": "lemma", "coro": "corollary", "defi": "definition", "exm": "example",
    **{
        name: name
        for name in (
            *STATEMENTS, "problem", "question", "fact", "observation", "notation",
            "assumption", "hypothesis", "axiom", "situation",
        )
    },
}  # fmt: skip


class _Kind(NamedTuple):
    """The name that an environment prints, and its counter."""

    kind: str
    """In lower case: ``theorem``."""
    counter: str | None
    """``None``: it has no number."""


class LatexCounters:
    r"""The counters of a document and the environments that they number.

    >>> counters = LatexCounters()
    >>> counters.declare("thm", "Theorem", within="section")
    >>> counters.declare("lem", "Lemma", shared="thm")
    >>> _ = counters.step("section"), counters.step("thm")
    >>> counters.find("lem"), counters.step("thm")
    (_Kind(kind='lemma', counter='thm'), '1.2')
    """

    def __init__(self) -> None:
        self._parents: dict[str, str | None] = {
            "part": None,
            "chapter": None,
            "section": None,
            "subsection": "section",
            "subsubsection": "subsection",
        }
        self._values: dict[str, int] = {}
        self._lettered: str | None = None
        self._kinds: dict[str, _Kind] = {}

    def start_chapter(self, number: int) -> None:
        """Set the chapter of a book that this document is."""
        self.add_chapters()
        self.set("chapter", number)

    def add_chapters(self) -> None:
        """Number sections within chapters, as books do."""
        self._parents["section"] = "chapter"

    def declare(
        self,
        environment: str,
        printed: str,
        shared: str | None = None,
        within: str | None = None,
        is_numbered: bool = True,
    ) -> None:
        r"""Declare an environment, as ``\newtheorem`` does."""
        kind = " ".join(printed.lower().split()).strip(".:") or environment
        counter = environment
        if shared:
            known = self._kinds.get(shared)
            counter = (known.counter if known else None) or shared
        elif is_numbered:
            self._parents[environment] = within
        number = counter if is_numbered else None
        self._kinds[environment] = _Kind(kind, number)

    def find(self, environment: str) -> _Kind | None:
        """Return the kind of a statement; ``None``: the environment is not one."""
        known = self._kinds.get(environment)
        if known is not None:
            return known
        name = environment.rstrip("*")
        if name in self._kinds:
            return self._kinds[name]._replace(counter=None)
        if name not in _USUAL:
            return None
        counter = None if environment.endswith("*") else name
        return _Kind(_USUAL[name], counter)

    def number_within(self, counter: str, parent: str) -> None:
        """Reset a counter with each step of another one."""
        if counter in self._kinds:
            counter = self._kinds[counter].counter or counter
        self._parents[counter] = parent

    def step(self, counter: str) -> str:
        """Step a counter and return its number as printed."""
        self.set(counter, self._values.get(counter, 0) + 1)
        self._reset_below(counter, 0)
        return self._show(counter, 0)

    def set(self, counter: str, value: int) -> None:
        """Give a counter a value."""
        self._values[counter] = value

    def add(self, counter: str, value: int) -> None:
        """Add to a counter."""
        self.set(counter, self._values.get(counter, 0) + value)

    def start_appendix(self) -> None:
        """Count chapters, or sections if there are none, by letters from A."""
        self._lettered = self._parents["section"] or "section"
        self.set(self._lettered, 0)

    def _reset_below(self, counter: str, depth: int) -> None:
        if depth > _MAX_DEPTH:
            return
        for child, parent in self._parents.items():
            if parent == counter:
                self._values[child] = 0
                self._reset_below(child, depth + 1)

    def _show(self, counter: str, depth: int) -> str:
        value = self._values.get(counter, 0)
        own = str(value)
        if counter == self._lettered and 0 < value <= len(_LETTERS):
            own = _LETTERS[value - 1]
        parent = self._parents.get(counter)
        if parent is None or depth > _MAX_DEPTH:
            return own
        return f"{self._show(parent, depth + 1)}.{own}"


class LatexPreamble:
    """The declarations of a document, wherever they are in it."""

    COMMANDS = (
        "newtheorem", "spnewtheorem", "newmdtheoremenv", "declaretheorem",
        "numberwithin", "counterwithin", "newenvironment", "renewenvironment",
        "excludecomment", "externaldocument", "title",
    )  # fmt: skip

    def __init__(self) -> None:
        self.title = ""
        self.counters = LatexCounters()
        self.environments: dict[str, tuple[LatexMacro, str]] = {}
        """Environments that the author defined: their code at begin and end."""
        self.comments = {"comment", "thebibliography"}
        """Environments whose text is skipped."""
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
        """Read the declaration of a command.

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
        shared, within = (
            next((settings[name] for name in names_of if name in settings), None)
            for names_of in (_SHARED, _WITHIN)
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
