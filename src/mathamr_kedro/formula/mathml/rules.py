"""Shared parts of the two readers of MathML: the walk over elements, and deviations.

The walk visits the elements in reverse document order with a stack of results, so each
element finds the results of its children ready, left to right, and nothing recurses:

```
<mrow> <mi>x</mi> <mo>+</mo> </mrow>      visit   stack of results
                                          mo      [+]
                                          mi      [+, V!x]
                                          mrow    [V!x ──n── +]
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from lxml import etree

from mathamr_kedro.formula.mathml.markup import TreeError, local_name
from mathamr_kedro.formula.node import (
    BLANK,
    ERROR,
    MAX_CHILDREN,
    Node,
    clean_text,
    escape_label,
)

Mode: TypeAlias = Literal["strict", "total"]
_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
_MAX_DETAIL = 40


@dataclass(slots=True)
class Reader:
    """State of reading one formula, with its deviations from the published rules."""

    strict: bool
    compat: bool = False
    copied: int = 0
    deviations: list[str] = field(default_factory=list)

    def deviate(self, reason: str, message: str, detail: str = "") -> None:
        """Raise an error in strict mode; count its reason in total mode."""
        if self.strict:
            raise TreeError(reason, message)
        if detail:
            reason = f"{reason}:{detail[:_MAX_DETAIL]}"
        self.deviations.append(reason)

    def refuse_tag(self, element: etree._Element) -> None:
        """Count an element that no rule covers, or raise for it in strict mode."""
        name, parent = local_name(element), element.getparent()
        place = f" in {local_name(parent)!r}" if parent is not None else ""
        self.deviate("unknown_tag", f"No rule for the element {name!r}{place}", name)

    def make_node(self, label: str, children: Sequence[Node]) -> Node:
        """Return an Operator Tree node; one with too many children is split.

        Published splitting covers unordered operators and errors.

        Raises:
            TreeError: strict mode, if published splitting fails.
        """
        if len(children) > MAX_CHILDREN and label[:2] not in ("U!", ERROR):
            self.deviate(
                "wrong_arity",
                f"Expected at most {MAX_CHILDREN} children of {label!r} "
                f"(got {len(children)})",
                "too_many_children",
            )
        return Node.operator(label, children)


Kids: TypeAlias = Sequence[Node | None]
Rule: TypeAlias = Callable[[etree._Element, Kids, Reader], Node | None]


class RuleBook:
    """The rules of one reader by tag; query variables (``qvar``) are read by all.

    Args:
        rules: what to make of each element.
        unknown: what to make of all others.
        leaves: rules that never look at their children, so that errors below them do
            not count (strict mode fails exactly where the published converters do).
        first_only: rules that look only at their first child.
    """

    def __init__(
        self,
        rules: Mapping[str, Rule],
        unknown: Rule,
        leaves: Iterable[Rule] = (),
        first_only: Iterable[Rule] = (),
    ) -> None:
        rules = {"qvar": _make_wildcard, **rules}
        self._by_tag = dict(rules)
        self._by_tag.update({_NAMESPACE + tag: rule for tag, rule in rules.items()})
        self._unknown = unknown
        self._leaves = {*leaves, unknown, _make_wildcard}
        self._first_only = set(first_only)

    def convert(self, element: etree._Element, reader: Reader) -> Node | None:
        """Return the tree of one element.

        Raises:
            TreeError: strict mode, and no rule covers the element.
        """
        by_tag = self._by_tag
        results: list[Node | TreeError | None] = []
        failed = False
        for item in reversed(list(element.iter())):
            rule = by_tag.get(item.tag)
            if rule is None:
                rule = self._find_rule(item)
            count = len(item)
            kids: Sequence[Node | TreeError | None] = ()
            if count:
                kids = results[: -count - 1 : -1]
                del results[-count:]
                if failed:
                    error = self._find_error(rule, kids)
                    if error is not None:
                        results.append(error)
                        continue
            try:
                results.append(rule(item, kids, reader))  # type: ignore[arg-type]
            except TreeError as error:
                failed = True
                results.append(error)
        result = results[0]
        if isinstance(result, TreeError):
            raise result
        return result

    def _find_rule(self, element: etree._Element) -> Rule:
        if not isinstance(element.tag, str):
            return _skip  # an entity that stayed unresolved
        return self._by_tag.get(local_name(element), self._unknown)

    def _find_error(
        self, rule: Rule, kids: Sequence[Node | TreeError | None]
    ) -> TreeError | None:
        if rule in self._leaves:
            return None
        seen = kids[:1] if rule in self._first_only else kids
        return next((kid for kid in seen if isinstance(kid, TreeError)), None)


def _skip(element: etree._Element, kids: Kids, reader: Reader) -> None:
    return None


def make_leaf(kind: str, element: etree._Element, kids: Kids, reader: Reader) -> Node:
    """Return a leaf whose text is the value of its label."""
    value = clean_text(element.text)
    return Node(kind + value if value else BLANK)


def _make_wildcard(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    """Return a query variable: ``?`` and its name."""
    name = element.get("name")
    if name is None:
        return Node("?" + clean_text(element.text))
    return Node("?" + (name if reader.strict else escape_label(name)))


def drop_missing(kids: Kids) -> list[Node]:
    """Return the children that left something."""
    return [kid for kid in kids if kid is not None]
