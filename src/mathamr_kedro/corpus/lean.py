r"""Declarations of Lean: their docstrings and statements.

::

    /-- Addition is commutative. -/
    @[simp] theorem add_comm (a b : ℕ) : a + b = b + a := by ...
            ▼
    theorem Nat.add_comm       Addition is commutative.
                               theorem add_comm (a b : ℕ) : a + b = b + a

Read without Lean: comments, namespaces and the start of each command suffice. Proofs,
private declarations and those without a name are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

KINDS = {
    "theorem": "theorem", "lemma": "lemma", "def": "definition",
    "abbrev": "definition", "structure": "structure", "class": "class",
    "inductive": "inductive", "axiom": "axiom", "instance": "instance",
}  # fmt: skip
"""Keyword to the kind of a statement."""
_TOKEN = re.compile(
    r"/--(?P<doc>.*?)-/|/-!(?P<module>.*?)-/|/-.*?-/|--[^\n]*"
    r"|^(?:noncomputable\s+|public\s+|@\[expose\]\s+)*"
    r"(?P<scope>namespace|section|mutual|end)\b[ \t]*(?P<name>[^\s(:{\[]*)"
    r"|^(?:@\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*|(?:protected|noncomputable|nonrec|partial|unsafe|scoped|public)\s+)*"
    rf"(?P<kind>{'|'.join(KINDS)})\s+(?P<declared>[^\s(:{{\[⦃]+)"
    r"|^(?P<other>[a-z#@][\w!]*)",
    re.DOTALL | re.MULTILINE,
)
_BODY = re.compile(r":=|^\s*\||\bwhere\b|^\S", re.MULTILINE)
_MAX_STATEMENT = 2000  # characters; longer ones are generated


class LeanPart(NamedTuple):
    """A declaration, or the text of a module."""

    line: int
    """From 0."""
    kind: str
    """``text``: of a module."""
    name: str
    doc: str
    """Markdown."""
    statement: str = ""


def read_lean(text: str) -> Iterator[LeanPart]:
    r"""Yield declarations and texts of a module in their order.

    >>> source = "namespace Nat\n/-- Sums. -/\ntheorem a (n : ℕ) : n = n := rfl\n"
    >>> [part[1:] for part in read_lean(source)]
    [('theorem', 'Nat.a', 'Sums.', 'theorem a (n : ℕ) : n = n')]
    """
    scopes: list[tuple[str, str]] = []
    doc, line, last = "", 0, 0
    for found in _TOKEN.finditer(text):
        line, last = line + text.count("\n", last, found.start()), found.start()
        if found["doc"] is not None:
            doc = found["doc"].strip()
            continue
        if found["module"] is not None:
            yield LeanPart(line, "text", "", found["module"].strip())
        elif found["scope"] == "end":
            scopes = scopes[:-1]
        elif found["scope"]:
            scopes.append((found["scope"], found["name"]))
        elif found["kind"]:
            spaces = [name for scope, name in scopes if scope == "namespace"]
            name = ".".join([*spaces, found["declared"]]).partition("_root_.")
            start = found.start("kind")
            body = _BODY.search(text, found.end())
            end = min(
                len(text) if body is None else body.start(), start + _MAX_STATEMENT
            )
            statement = " ".join(text[start:end].split())
            yield LeanPart(
                line, KINDS[found["kind"]], name[2] or name[0], doc, statement
            )
        elif found["other"] is None:
            continue  # a comment between a docstring and its declaration
        doc = ""
