"""Premise retrieval: given a statement, find the statements that its proof cites.

```
statements.jsonl.gz    {"id": "algebra-lemma-silly", "type": "lemma", "name": null,
                        "number": "10.15.1", "section": "...", "text": "Let $R$ ..."}
qrels_train.tsv        query  0  premise  1            qrels_dev.tsv beside it
```

A query is a statement itself, by its id: it is excluded from its own results. Only
links of the training split are public; those of the other splits are asked
for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import Failure, Statement, StatementLink
from mathamr_kedro.corpus.beir import BeirCollection
from mathamr_kedro.corpus.json_records import read_records
from mathamr_kedro.corpus.raw import Part


class PremiseCollection(BeirCollection):
    """Lazy reader of statements and of the links of their proofs."""

    def statements(self) -> Iterator[Statement | Failure]:
        """Yield type, number, name and place of the statements."""
        for path in self._find_documents():
            for found in read_records(path, self._name(path)):
                if isinstance(found, Failure) or not found[1].get("id"):
                    continue  # reported with the posts
                yield self._describe(found[1], self._name(path), found[0])

    def statement_links(self) -> Iterator[StatementLink | Failure]:
        """Yield what the proofs of training queries cite."""
        for found in self.pairs():
            if not isinstance(found, Failure):  # reported with the pairs
                yield StatementLink(*found)

    def _describe(self, record: dict[str, Any], source: str, place: str) -> Statement:
        cells = {key: str(v) for key, v in record.items() if v is not None}
        chapter = cells.get("chapter_title", cells.get("chapter", ""))
        if "line" in cells:
            source = f"{cells.get('chapter', '')}.tex"
            place = f"line {cells['line']}"
        return Statement(
            post_id=cells.get("id", ""),
            kind=cells.get("type", "text"),
            number=cells.get("number"),
            name=cells.get("name"),
            label=cells.get("id"),
            section=cells.get("section", ""),
            chapter=chapter,
            source=source,
            place=place,
            proved=bool(record.get("proved")),
            proof="",
        )

    def _find_documents(self) -> list[Path]:
        for name in ("statements.jsonl", "statements.jsonl.gz"):
            if (self.root / name).is_file():
                return [self.root / name]
        raise MissingInputError(
            f"Expected statements.jsonl.gz in {str(self.root)!r}; set "
            "MATHAMR_STATEMENTS to its folder, then `kedro run --env stacks`"
        )

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
