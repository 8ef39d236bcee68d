r"""Records of graph shards: plain text that PENMAN tools read too.

```
# ::id 255
# ::post_type question
# ::missing FORMULA_1
# ::text 9f86d081884c7d659a2feaa0c55ad015
# ::formula_map {"FORMULA_0": {"formula_id": "2618", "visual_id": "4097", ...}, ...}
(c / converge-01
  :polarity -
  :ARG1 (s / series
    :mod (f / FORMULA_0)))
                                      <- an empty line ends a record
```

AMR parsing writes such records, graph fusion puts the trees of the formulas into them.
The checksum of a parsed text tells a later run that it need not parse the text again.
Lines without a value (no missing placeholder, no formula) are omitted.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mathamr_kedro.base.errors import GraphError, MalformedInputError
from mathamr_kedro.base.records import FormulaMention, Post, Topic
from mathamr_kedro.graph.math_graph import read_placeholder

SUFFIX = ".amr.txt"
"""How the name of a shard ends."""


class GraphRecord(NamedTuple):
    """The graph of one post or topic, and the formulas that it names."""

    graph_id: str
    """Id of the post or of the topic."""
    graph: str
    """PENMAN text; a node ``FORMULA_n`` stands for a formula."""
    post_type: str = "document"
    """``question``, ``answer``, ``document``, ``topic`` or ``formula``."""
    formula_map: tuple[FormulaMention, ...] = ()
    missing: tuple[str, ...] = ()
    """Placeholders of the text that the AMR has no node for."""
    text_checksum: str = ""
    """Of the text that was parsed as a whole; empty if a chunk was lost."""

    @classmethod
    def of(
        cls, text: Post | Topic, graph: str, missing: Iterable[str] = ()
    ) -> GraphRecord:
        """Return the record of a post or a topic."""
        kind = text.post_type if isinstance(text, Post) else "topic"
        return cls(text[0], graph, kind, text.formula_map, tuple(missing))

    def formulas(self) -> dict[int, FormulaMention]:
        """Return the formulas by ``n`` of ``FORMULA_n``.

        Raises:
            GraphError: a placeholder of the formula map has another form.
        """
        return number_formulas(self.graph_id, self.formula_map)

    @classmethod
    def read(cls, block: str) -> GraphRecord:
        """Read the text of one record; the line order of the comments does not matter.

        Raises:
            MalformedInputError: a comment or the graph is missing or unreadable.
        """
        found: dict[str, str] = {}
        rest = block
        while rest.startswith("#"):
            line, _, rest = rest.partition("\n")
            key, _, value = line.removeprefix("# ::").partition(" ")
            found[key] = value
        if "id" not in found or not rest.startswith("("):
            raise MalformedInputError(
                f"Expected '# ::id ...' and a graph in a record (got {block[:80]!r})"
            )
        try:
            return cls(
                _read_value(found["id"]),
                rest,
                _read_value(found.get("post_type", "document")),
                _read_formula_map(found.get("formula_map", "{}")),
                tuple(found.get("missing", "").split()),
                found.get("text", ""),
            )
        except (ValueError, TypeError, AttributeError) as exc:
            raise MalformedInputError(
                f"Expected JSON in the comments of a record ({exc}; got {block[:80]!r})"
            ) from exc

    def format(self) -> str:
        r"""Return the text of the record, with the empty line that ends it.

        >>> GraphRecord("7", "(s / sum-01)", "answer").format()
        '# ::id 7\n# ::post_type answer\n(s / sum-01)\n\n'

        Raises:
            GraphError: the graph is not PENMAN text without empty lines.
        """
        if not self.graph.startswith("(") or "\n\n" in self.graph:
            raise GraphError(
                f"Expected PENMAN text without empty lines for {self.graph_id!r} "
                f"(got {self.graph[:80]!r})"
            )
        lines = [f"# ::id {_format_value(self.graph_id)}"]
        lines.append(f"# ::post_type {_format_value(self.post_type)}")
        if self.missing:
            lines.append(f"# ::missing {' '.join(self.missing)}")
        if self.text_checksum:
            lines.append(f"# ::text {self.text_checksum}")
        if self.formula_map:
            lines.append(f"# ::formula_map {_format_formula_map(self.formula_map)}")
        lines.append(self.graph)
        return "\n".join(lines) + "\n\n"


def number_formulas(
    graph_id: str, formula_map: Iterable[FormulaMention]
) -> dict[int, FormulaMention]:
    """Return the formulas of a graph by ``n`` of ``FORMULA_n``.

    Raises:
        GraphError: a placeholder of the formula map has another form.
    """
    found: dict[int, FormulaMention] = {}
    for mention in formula_map:
        number = read_placeholder(mention.placeholder)
        if number is None:
            raise GraphError(
                f"Expected placeholders FORMULA_n in the formula map of {graph_id!r} "
                f"(got {mention.placeholder!r})"
            )
        found[number] = mention
    return found


def _format_formula_map(formula_map: Iterable[FormulaMention]) -> str:
    """Return the map from placeholders to formulas as one line of JSON."""
    entries = {
        mention.placeholder: dict(
            zip(FormulaMention._fields[1:], mention[1:], strict=True)
        )
        for mention in formula_map
    }
    text = json.dumps(entries, ensure_ascii=False)
    # Lone surrogates cannot be written as UTF-8, and some characters end a line.
    return text if text.isprintable() else json.dumps(entries)


def _read_formula_map(line: str) -> tuple[FormulaMention, ...]:
    """Undo :func:`_format_formula_map`."""
    return tuple(
        FormulaMention(placeholder, **entry)
        for placeholder, entry in json.loads(line).items()
    )


class RecordFile:
    """The records of one shard, as text.

    Args:
        path: the file.
        dropped: places of records that are left out.
    """

    def __init__(self, path: Path, dropped: Container[int] = ()) -> None:
        self.path, self._dropped = path, dropped

    def write(self, records: Iterable[GraphRecord]) -> None:
        """Write records to the file."""
        with self.path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(record.format() for record in records)

    def __iter__(self) -> Iterator[GraphRecord]:
        for place, block in enumerate(self.blocks()):
            if place in self._dropped:
                continue
            try:
                yield GraphRecord.read(block)
            except MalformedInputError as exc:
                raise MalformedInputError(f"{exc} in {str(self.path)!r}") from exc

    def blocks(self) -> Iterator[str]:
        """Yield the texts of the records, without the line breaks around them."""
        with self.path.open(encoding="utf-8", newline="\n") as file:
            lines: list[str] = []
            for line in file:
                if line != "\n":
                    lines.append(line)
                elif lines:
                    yield "".join(lines).removesuffix("\n")
                    lines.clear()
            if lines:
                yield "".join(lines).removesuffix("\n")

    def find(self, graph_id: str) -> GraphRecord | None:
        """Return the record of an id, or ``None``."""
        content = b"\n" + self.path.read_bytes()
        start = content.find(f"\n# ::id {_format_value(graph_id)}\n".encode())
        if start < 0:
            return None
        block, _, _ = content[start + 1 :].partition(b"\n\n")
        return GraphRecord.read(block.decode())


def _format_value(value: str) -> str:
    """Write a value as it is, or as JSON if it would not come back."""
    is_plain = value.isprintable() and value == value.strip() and value[:1] != '"'
    return value if is_plain and value else json.dumps(value)


def _read_value(text: str) -> str:
    return json.loads(text) if text.startswith('"') else text
