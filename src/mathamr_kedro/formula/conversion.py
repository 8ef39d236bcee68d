"""What the two readers of MathML share: one walk over the elements, and its failures.

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
from typing import Literal, TypeAlias

from lxml import etree

from mathamr_kedro.errors import ConfigurationError, suggest
from mathamr_kedro.formula.failures import TreeError, UnknownTagError
from mathamr_kedro.formula.labels import clean_text, escape_label
from mathamr_kedro.formula.markup import local_name
from mathamr_kedro.formula.node import Node

Mode: TypeAlias = Literal["strict", "total"]
MODES = ("strict", "total")
NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
_LONGEST_DETAIL = 40


class Reader:
    """How one formula is read, and what had to be bent while reading it."""

    __slots__ = ("compat", "copied", "deviations", "share_copies", "strict", "variant")

    def __init__(
        self,
        strict: bool,
        compat: bool = False,
        variant: str = "mathamr",
        share_copies: bool = False,
    ) -> None:
        self.strict = strict
        self.compat = compat
        self.variant = variant
        self.share_copies = share_copies
        self.copied = 0
        self.deviations: list[str] = []

    def deviate(self, error: TreeError, detail: str = "") -> None:
        """Raise the error (strict), or count its reason and go on (total)."""
        if self.strict:
            raise error
        reason = (
            f"{error.reason}:{detail[:_LONGEST_DETAIL]}" if detail else error.reason
        )
        self.deviations.append(reason)


Kids: TypeAlias = Sequence[Node | None]
Rule: TypeAlias = Callable[[etree._Element, Kids, Reader], Node | None]


class RuleBook:
    """The rules of one reader by tag.

    Args:
        rules: what to make of each element.
        unknown: what to make of all others.
        leaves: rules that never look at their children, so that errors below them do
            not count (strict mode fails exactly where the published converters do).
        first_only: rules that look at their first child alone.
    """

    def __init__(
        self,
        rules: Mapping[str, Rule],
        unknown: Rule,
        leaves: Iterable[Rule] = (),
        first_only: Iterable[Rule] = (),
    ) -> None:
        self._by_tag = dict(rules)
        self._by_tag.update({NAMESPACE + tag: rule for tag, rule in rules.items()})
        self._unknown = unknown
        self._leaves = {*leaves, unknown}
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


def refuse_tag(element: etree._Element, reader: Reader) -> None:
    """Count an element that no rule covers, or raise for it in strict mode.

    Raises:
        UnknownTagError: strict mode.
    """
    name = local_name(element)
    error = UnknownTagError(f"No rule for the element {name!r}{_position(element)}")
    reader.deviate(error, name)


def make_wildcard(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    """Return a query variable: ``?`` and its name."""
    name = element.get("name")
    if name is None:
        return Node("?" + clean_text(element.text))
    return Node("?" + (name if reader.strict else escape_label(name)))


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise unless ``value`` is one of ``choices``.

    Raises:
        ConfigurationError: it is not.
    """
    if value not in choices:
        raise ConfigurationError(
            f"Expected one of {list(choices)} for {name} (got {value!r})"
            f"{suggest(str(value), choices)}"
        )


def _position(element: etree._Element) -> str:
    parent = element.getparent()
    return f" in {local_name(parent)!r}" if parent is not None else ""
