r"""Export of a collection in the format of BEIR.

```
corpus.jsonl      {"_id": "33703", "title": "", "text": "Let $p$ ...", "metadata": {}}
queries.jsonl     {"_id": "A.1", "text": "Is $\\sqrt p$ ...", "metadata": {}}
qrels/test.tsv    query-id   corpus-id   score
qrels/train.tsv   the same of training pairs; their questions are queries too
runs/bm25.trec    topic Q0 document rank score run
runs/bm25.json    {"A.1": {"33703": 12.5}}
```

Texts have their formulas between dollars. Each is read back before it is written: if
the reader of Markdown would change it (``2 *3* 4``), its ``metadata`` are ``{"format":
"text"}``; if a formula contains a dollar, formulas are in ``\(...\)``. So
:class:`~mathamr_kedro.corpus.BeirCollection` reads what was written, and writing that
again gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mathamr_kedro.base.records import (
    CleanText,
    FormulaMention,
    Post,
    Topic,
    TrainingPair,
)
from mathamr_kedro.base.types import Grade, TopicId
from mathamr_kedro.corpus import clean_text
from mathamr_kedro.trec import Run, open_to_replace, write_run

_QUERY = "query:"
"""Prefix of the id of a training query that was read from this kind of folder."""
_HEADER = "query-id\tcorpus-id\tscore\n"
_MARKUPS = ("markdown", "text")
_FENCES = (("$", "$"), (r"\(", r"\)"))


class BenchmarkFolder:
    """Writes the files of a folder, each atomically."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.unfaithful: list[str] = []
        """Ids of texts that are not read back unchanged."""

    def write_corpus(self, posts: Iterable[Post]) -> int:
        """Write the documents; return how many."""
        return self._write("corpus.jsonl", map(self._record, posts))

    def write_formulas(self, formulas: Mapping[str, str]) -> int:
        """Write formulas, LaTeX by visual id, as documents; return how many."""
        rows = ((name, _formula_text(latex)) for name, latex in formulas.items())
        return self._write(
            "corpus.jsonl",
            ({"_id": i, "title": "", "text": t, "metadata": {}} for i, t in rows),
        )

    def write_queries(self, topics: Iterable[Topic], questions: Iterable[Post]) -> int:
        """Write topics, then questions to learn from; return how many."""
        return self._write("queries.jsonl", self._list_queries(topics, questions))

    def write_qrels(
        self, split: str, grades: Mapping[TopicId, Mapping[str, Grade]]
    ) -> int:
        """Write judgments; return how many."""
        rows = [(t, i, g) for t, by_id in grades.items() for i, g in by_id.items()]
        with open_to_replace(self.folder / "qrels" / f"{split}.tsv") as file:
            file.write(_HEADER)
            file.writelines(f"{topic}\t{i}\t{grade}\n" for topic, i, grade in rows)
        return len(rows)

    def write_pairs(self, split: str, pairs: Iterable[TrainingPair]) -> int:
        """Write training pairs as judgments of the grade 1; return how many."""
        grades: dict[TopicId, dict[str, Grade]] = {}
        for pair in pairs:
            query = pair.question_id.removeprefix(_QUERY)
            grades.setdefault(query, {})[pair.answer_id] = 1
        return self.write_qrels(split, grades)

    def write_run(self, run: Run) -> None:
        """Write a run for trec_eval and for BEIR's loaders."""
        stem = run.name.replace("/", "-")
        folder = self.folder / "runs"
        write_run(folder / f"{stem}.trec", run, depth=None)
        lists = {topic: dict(run.documents(topic)) for topic in run.lists}
        with open_to_replace(folder / f"{stem}.json") as file:
            json.dump(lists, file, ensure_ascii=False, indent=1)
            file.write("\n")

    def _list_queries(
        self, topics: Iterable[Topic], questions: Iterable[Post]
    ) -> Iterator[dict[str, Any]]:
        written: set[str] = set()
        for topic in topics:
            written.add(topic.topic_id)
            if topic.formula_id is not None:  # Task 2 asks only for a formula
                yield _query(topic.topic_id, _formula_text(topic.latex or ""), {})
            else:
                clean = CleanText(topic.text, topic.formula_map)
                _, text, notes = self._restore(topic.topic_id, "", clean)
                yield _query(topic.topic_id, text, notes)
        for post in questions:
            name = post.post_id.removeprefix(_QUERY)
            if name not in written:
                clean = CleanText(post.text, post.formula_map)
                _, text, notes = self._restore(name, "", clean)
                yield _query(name, text, notes)

    def _record(self, post: Post) -> dict[str, Any]:
        clean = CleanText(post.text, post.formula_map)
        title, text, notes = self._restore(post.post_id, post.title, clean)
        if post.tags:
            notes["tags"] = list(post.tags)
        return {"_id": post.post_id, "title": title, "text": text, "metadata": notes}

    def _restore(
        self, name: str, title: str, clean: CleanText
    ) -> tuple[str, str, dict[str, Any]]:
        """Return title and text with LaTeX, and their format."""
        for markup in _MARKUPS:
            for form in _list_forms(title, clean):
                if _reads_back(*form, clean, markup):
                    is_default = markup == _MARKUPS[0]
                    return *form, {} if is_default else {"format": markup}
        self.unfaithful.append(name)
        return *next(_list_forms(title, clean)), {"format": _MARKUPS[-1]}

    def _write(self, name: str, records: Iterable[Mapping[str, Any]]) -> int:
        count = 0
        with open_to_replace(self.folder / name) as file:
            for record in records:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                count += 1
        return count


def _query(name: str, text: str, notes: dict[str, Any]) -> dict[str, Any]:
    return {"_id": name, "text": text, "metadata": notes}


def _list_forms(title: str, clean: CleanText) -> Iterator[tuple[str, str]]:
    """Yield title and body: formulas in dollars, or other spellings if needed."""
    end = len(title) if clean.text.startswith(title) else 0
    head = [m for m in clean.formula_map if m.end <= end]
    body = [
        m._replace(start=m.start - end, end=m.end - end)
        for m in clean.formula_map[len(head) :]
    ]
    parts = (clean.text[:end], head), (clean.text[end:], body)
    for dollar in ("$", r"\$") if "$" in clean.text else ("$",):
        for fences in _FENCES:
            first, second = (_spell(*part, fences, dollar).strip() for part in parts)
            yield first, second


def _spell(
    text: str, mentions: Iterable[FormulaMention], fences: tuple[str, str], dollar: str
) -> str:
    pieces, position = [], 0
    for mention in mentions:
        words = text[position : mention.start].replace("$", dollar)
        pieces += [words, _fence(mention.latex, fences)]
        position = mention.end
    return "".join([*pieces, text[position:].replace("$", dollar)])


def _reads_back(title: str, text: str, clean: CleanText, markup: str) -> bool:
    found, _ = clean_text(title, text, "", markup=markup)
    mine, theirs = ([m.latex for m in c.formula_map] for c in (found, clean))
    return found.text == clean.text and mine == theirs


def _formula_text(latex: str) -> str:
    return _fence(latex, _FENCES["$" in latex])


def _fence(latex: str, fences: tuple[str, str]) -> str:
    return f"{fences[0]}{latex}{fences[1]}"
