r"""Numbers of LaTeX documents: what ``\newtheorem`` declares and how it is counted.

```
\newtheorem{thm}{Theorem}[section]     Theorem 2.1     within the section
\newtheorem{lem}[thm]{Lemma}           Lemma 2.2       counted with the theorems
\newtheorem*{claim}{Claim}             Claim
```
"""

from __future__ import annotations

from typing import NamedTuple

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MAX_DEPTH = 20  # of counters within counters; more is a circle
# Classes and packages define these without a \newtheorem in sight.
_USUAL = {
    "thm": "theorem", "lem": "lemma", "lma": "lemma", "prop": "proposition",
    "cor": "corollary", "coro": "corollary", "defn": "definition", "defi": "definition",
    "rem": "remark", "rmk": "remark", "ex": "example", "exm": "example",
    "conj": "conjecture", "exer": "exercise",
    **{
        name: name
        for name in (
            "theorem", "lemma", "proposition", "corollary", "definition", "remark",
            "example", "exercise", "claim", "conjecture", "problem", "question", "fact",
            "observation", "notation", "assumption", "hypothesis", "axiom", "situation",
        )
    },
}  # fmt: skip


class _Kind(NamedTuple):
    """What an environment prints and what counts it."""

    kind: str
    """In small letters: ``theorem``."""
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
        """Say which chapter of a book the whole document is."""
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
        r"""Take up what ``\newtheorem`` says."""
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
        """Return what kind of statement an environment is; ``None``: it is none."""
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
        """Start a counter anew with each step of another one."""
        if counter in self._kinds:
            counter = self._kinds[counter].counter or counter
        self._parents[counter] = parent

    def step(self, counter: str) -> str:
        """Count on, and return the number as it is printed."""
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
        """Count chapters, or sections where there are none, by letters from A."""
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
