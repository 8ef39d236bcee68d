"""Premise retrieval: given a statement, find the statements that its proof cites.

```
statements.jsonl.gz    {"id": "algebra-lemma-silly", "type": "lemma", "name": null,
                        "number": "10.15.1", "section": "...", "text": "Let $R$ ..."}
qrels_train.tsv        query  0  premise  1            qrels_dev.tsv beside it
```

A query is a statement itself, by its id: it is left out of its own results
(``evaluation.leave_out_query``).
"""

from __future__ import annotations

from pathlib import Path

from mathamr_kedro.corpus.beir import BeirCollection
from mathamr_kedro.corpus.raw import Part
from mathamr_kedro.errors import MissingInputError


class PremiseCollection(BeirCollection):
    """Lazy reader of statements and of the links of their proofs."""

    def _find_documents(self) -> list[Path]:
        for name in ("statements.jsonl", "statements.jsonl.gz"):
            if (self.root / name).is_file():
                return [self.root / name]
        raise MissingInputError(
            f"Expected statements.jsonl.gz in {str(self.root)!r}; name the folder: "
            "MATHAMR_STATEMENTS=FOLDER kedro run --env stacks"
        )

    def _find_queries(self) -> list[Path]:
        return self._find_documents()

    def _find_qrels(self, split: str) -> list[Path]:
        names = (f"qrels_{split}.tsv", f"qrels_{split}.tsv.gz")
        return [self.root / n for n in names if split and (self.root / n).is_file()][:1]

    def _list_splits(self) -> list[str]:
        names = (file.name for file in self.root.glob("qrels_*.tsv*"))
        return sorted({name.partition(".")[0].partition("_")[2] for name in names})

    def _list_files(self, part: Part) -> list[Path]:
        # Every query is a statement: other links leave the documents alone.
        return self._find_documents() if part == "posts" else super()._list_files(part)
