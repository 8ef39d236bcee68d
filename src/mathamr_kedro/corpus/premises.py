"""Statements in JSONL, and premise retrieval: which of them does a proof cite?

```
statements.jsonl.gz    {"id": "algebra-lemma-silly", "type": "lemma", "name": null,
                        "number": "10.15.1", "section": "...", "text": "Let $R$ ..."}
qrels_train.tsv        query  0  premise  1            qrels_dev.tsv beside it
```

A query is a statement itself, by its id: it is excluded from its own results. Only
links of the training split are public; those of the other splits are the answers.

Other files may lack links: theorems with a name instead of an id, or declarations of
Lean, whose text consists of several fields::

    {"name": "Finset.inter_div_subset", "kind": "theorem", "doc": "", "signature":
     ": s₁ ∩ s₂ / t ⊆ s₁ / t ∩ (s₂ / t)", "file": "Mathlib/....lean", "line": 634}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import Failure, Statement, StatementLink
from mathamr_kedro.corpus.beir import BeirCollection, BeirFiles
from mathamr_kedro.corpus.json_records import Record, read_records
from mathamr_kedro.corpus.raw import Part

_PARTS_OF_NAME = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[._]+")


@dataclass(frozen=True)
class StatementFiles(BeirFiles):
    """What is read of a folder of statements, and how."""

    documents: str = "statements.jsonl*"
    """The file of the statements in the folder."""
    text: tuple[str, ...] = ("text",)
    """Fields that make up the text of a statement. Several fields mean a declaration:
    then the words of its name (``inter div subset``) come first."""
    web: str = ""
    """Address of a statement, with fields of its record: ``https://.../tag/{tag}``."""


class PremiseCollection(BeirCollection):
    """Lazy reader of statements and of the links of their proofs."""

    def __init__(self, root: str | Path, files: StatementFiles | None = None) -> None:
        files = files or StatementFiles()
        super().__init__(root, files)
        self._documents, self._text = files.documents, files.text
        self._web = files.web

    @property
    def _settings(self) -> tuple[str, ...]:
        web = (self._web,) if self._web else ()
        return (*super()._settings, *self._text[1:], *web)

    def statements(self) -> Iterator[Statement | Failure]:
        """Yield type, number, name and place of the statements."""
        for path in self._find_documents():
            for found in self._read_records(path):
                if isinstance(found, Failure) or not found[1].get("id"):
                    continue  # reported with the posts
                yield self._describe(found[1], self._name(path), found[0])

    def statement_links(self) -> Iterator[StatementLink | Failure]:
        """Yield the citations in proofs of training queries."""
        for found in self.pairs():
            if not isinstance(found, Failure):  # reported with the pairs
                yield StatementLink(*found)

    def _describe(self, record: dict[str, Any], source: str, place: str) -> Statement:
        cells = {key: str(v) for key, v in record.items() if v is not None}
        chapter = cells.get("chapter_title", cells.get("chapter", ""))
        if "line" in cells:
            source = cells.get("file", f"{cells.get('chapter', '')}.tex")
            place = f"line {cells['line']}"
        return Statement(
            post_id=cells.get("id", ""),
            kind=cells.get("type", cells.get("kind", "text")),
            number=cells.get("number"),
            name=cells.get("name"),
            label=cells.get("id"),
            section=cells.get("section", ""),
            chapter=chapter,
            source=source,
            place=place,
            proved=bool(record.get("proved")),
            url=_fill(self._web, cells),
        )

    def _find_documents(self) -> list[Path]:
        found = sorted(self.root.glob(self._documents))
        if found:
            return found[:1]
        raise MissingInputError(
            f"Expected {self._documents} in {str(self.root)!r}; set the variable of "
            "the environment to its folder (docs/data.md), e.g. MATHAMR_STATEMENTS for "
            "`kedro run --env stacks`"
        )

    def _read_records(self, path: Path) -> Iterator[Record | Failure]:
        for found in read_records(path, self._name(path)):
            if not isinstance(found, Failure):
                self._complete(found[1])
            yield found

    def _complete(self, record: dict[str, Any]) -> None:
        """Give a record its text, and an id if it has only a name."""
        name = str(record.get("name") or "")
        if name:
            record.setdefault("id", name_id(name))
        if len(self._text) > 1:
            parts = [_PARTS_OF_NAME.sub(" ", name)]
            parts += [str(record.get(field) or "") for field in self._text]
            record["text"] = "\n\n".join(filter(None, parts))

    def _find_queries(self) -> list[Path]:
        return self._find_documents()

    def _find_qrels(self, split: str) -> list[Path]:
        names = (f"qrels_{split}.tsv", f"qrels_{split}.tsv.gz")
        return [self.root / n for n in names if split and (self.root / n).is_file()][:1]

    def _list_splits(self) -> list[str]:
        names = (file.name for file in self.root.glob("qrels_*.tsv*"))
        return sorted({name.partition(".")[0].partition("_")[2] for name in names})

    def list_files(self, part: Part) -> list[Path]:
        """Return the raw files of a part; other links change no document."""
        # Every query is a statement.
        return self._find_documents() if part == "posts" else super().list_files(part)


def name_id(name: str) -> str:
    """Return the id of a record that has only a name; ids contain no blanks.

    >>> name_id("Kraft inequality")
    'Kraft_inequality'
    """
    return "_".join(name.split())


def _fill(pattern: str, cells: dict[str, str]) -> str:
    """Fill an address with the fields of a record; empty if one is missing."""
    try:
        return pattern.format(**{key: quote(cell) for key, cell in cells.items()})
    except KeyError:
        return ""
