"""Own corpora: a folder of Markdown, HTML, LaTeX or JSONL files.

```
notes/
  primes.md          one document per section (unit: section) or per file (unit: file)
  paper.tex
  page.html
  faq.jsonl          one record per line:
                     {"id": "1", "title": "...", "text": "...", "tags": ["a"]}
                     {"id": "2", "question": "...", "answer": "..."}
```

A document's id is its path in the folder, with ``#n`` for the n-th section. Title, tags
and date may stand in the front matter of a Markdown file; formulas may be given as
LaTeX or, in HTML and Markdown, as MathML. A question with its answers becomes a thread
and a training pair. ``format`` in a JSONL record names its markup (``markdown``, the
default, ``html``, ``latex`` or ``text``).
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, get_args

from mathamr_kedro.corpus.extraction import PostCleaner, clean_text
from mathamr_kedro.corpus.front_matter import FrontMatter
from mathamr_kedro.corpus.math_elements import MathElement
from mathamr_kedro.corpus.raw import Collection, Markup, Part, RawPost
from mathamr_kedro.corpus.sections import Section
from mathamr_kedro.errors import MathAMRError, MissingInputError
from mathamr_kedro.progress import count_bytes
from mathamr_kedro.records import Failure, Formula
from mathamr_kedro.trec import open_binary

Unit = Literal["section", "file"]

_MARKUPS: dict[str, Markup] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".tex": "latex",
    ".txt": "text",
}
_BODY_KEYS = ("text", "body", "question", "answer")
_MAX_ID = 1000  # characters; paths of files are ids too


class OwnCollection(Collection):
    """Lazy reader of a folder of files."""

    def __init__(self, root: str | Path, unit: Unit = "section") -> None:
        super().__init__(root)
        self._unit = unit

    def check_layout(self) -> list[Path]:
        """Return all files; refuse a folder that is missing or has nothing to read."""
        files = (
            [f for f in sorted(self.root.rglob("*")) if not _hidden(f) and _is_file(f)]
            if self.root.is_dir()
            else []
        )
        if not any(_markup_of(f) or _is_jsonl(f) for f in files):
            raise MissingInputError(
                f"Expected Markdown, HTML, LaTeX or JSONL files in {str(self.root)!r}; "
                "name your folder: kedro run --env own --params raw_root=FOLDER"
            )
        return files

    def fingerprint(self, *parts: Part) -> str:
        """Return a digest of names and contents of the files, whatever the part."""
        files = ((str(f.relative_to(self.root)), f) for f in self.check_layout())
        return self._digest_files(files, self._unit)

    def posts(self) -> Iterator[RawPost | Failure]:
        """Yield the documents of all files, in the order of their names."""
        for path in self.check_layout():
            yield from self.read_file(path)

    def formula_tables(
        self,
    ) -> Iterator[tuple[str, Callable[[], Iterator[Formula | Failure]]]]:
        """Yield one table of all formulas, where documents hold MathML.

        Without any, the formulas of the texts say all there is to know.
        """
        bodies = (post.body for post in self.posts() if isinstance(post, RawPost))
        if any(map(MathElement.may_be_in, bodies)):
            yield "1", self._formulas

    def _formulas(self) -> Iterator[Formula | Failure]:
        for post in PostCleaner().watch(self.posts()):
            if not isinstance(post, Failure):  # reported with the posts
                yield from _list_formulas(post)

    def read_file(self, path: Path) -> Iterator[RawPost | Failure]:
        """Yield the documents of one file of the folder."""
        source = path.relative_to(self.root).as_posix()
        markup = _markup_of(path)
        if not path.resolve().is_relative_to(self.root.resolve()):
            detail = "a link that leads out of the folder; copy the file into it"
            yield _failure(source, "", "link_out_of_folder", detail)
        elif not path.exists():
            yield _failure(source, "", "unreadable_file", "a link that leads nowhere")
        elif _is_jsonl(path):
            yield from _read_jsonl(path, source)
        elif markup is None:
            detail = f"expected {' '.join(_MARKUPS)} .jsonl, got {path.suffix!r}"
            yield _failure(source, "", "unknown_file_type", detail)
        else:
            yield from self._read_document(path, source, markup)

    def _read_document(
        self, path: Path, source: str, markup: Markup
    ) -> Iterator[RawPost | Failure]:
        try:
            text = path.read_text(encoding="utf-8-sig")
            count_bytes(path.stat().st_size)
        except UnicodeDecodeError as exc:
            detail = (
                f"expected UTF-8 ({exc.reason} at byte {exc.start}); convert the file"
            )
            yield _failure(source, "", "bad_encoding", detail)
            return
        except OSError as exc:
            yield _failure(source, "", "unreadable_file", _explain(exc))
            return
        front = FrontMatter.read(text) if markup == "markdown" else FrontMatter()
        if front.problem:
            yield _failure(source, "line 1", "bad_front_matter", front.problem, True)
        first, text = text.count("\n", 0, front.length), text[front.length :]
        is_whole = self._unit == "file"
        sections = [Section(0, "", text)] if is_whole else Section.split(text, markup)
        for number, (line, title, body) in enumerate(sections, start=1):
            post_id = source if len(sections) == 1 else f"{source}#{number}"
            place = f"line {first + line + 1}"
            name = title or front.title
            post = _document(source, place, post_id, name, body, markup)
            yield post._replace(tags=front.tags, creation_date=front.date)


def _list_formulas(post: RawPost) -> Iterator[Formula]:
    """Yield the formulas of a document as rows of a formula index."""
    try:
        text = (post.title, post.body, post.post_id)
        clean, marks = clean_text(*text, markup=post.markup)
    except (MathAMRError, UnicodeEncodeError):
        return  # reported with the posts
    place = post.post_type if post.post_type in ("question", "answer") else "body"
    for mention in clean.formula_map:
        mathml = marks.mathml.get(mention.formula_id, "")
        yield Formula.of_mention(mention, post.post_id)._replace(
            thread_id=post.parent_id or post.post_id,
            place=place,
            presentation=mathml,
            content=mathml if MathElement(mathml).has_content else "",
        )


def _hidden(path: Path) -> bool:
    return path.name.startswith(".")


def _is_file(path: Path) -> bool:
    # A link that leads nowhere is reported, not passed over.
    return path.is_file() or (path.is_symlink() and not path.exists())


def _markup_of(path: Path) -> Markup | None:
    return _MARKUPS.get(path.suffix.lower())


def _is_jsonl(path: Path) -> bool:
    return path.name.lower().endswith((".jsonl", ".jsonl.gz"))


def _document(
    source: str, place: str, post_id: str, title: str, body: str, markup: Markup
) -> RawPost:
    return RawPost(
        source, place, post_id, "document", None, None, None, None, (), title, body,
        markup,
    )  # fmt: skip


def read_examples(
    path: Path, source: str, markup: Markup, titles: bool
) -> Iterator[RawPost | Failure]:
    """Yield questions and answers of a JSONL file as texts to learn from."""
    for post in _read_jsonl(path, source, markup):
        if isinstance(post, RawPost):
            title = post.title if titles else ""
            yield post._replace(post_type="example", title=title)
        else:
            yield post


def _read_jsonl(
    path: Path, source: str, markup: Markup = "markdown"
) -> Iterator[RawPost | Failure]:
    number = 0
    try:
        with open_binary(path) as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield from _read_record(line, source, number, markup)
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        detail = f"the gzip file is damaged ({exc}); what follows is lost: replace it"
        yield _failure(source, f"line {number + 1}", "damaged_gzip", detail)
    except OSError as exc:
        yield _failure(source, f"line {number + 1}", "unreadable_file", _explain(exc))


def _explain(exc: OSError) -> str:
    return f"the file cannot be read ({exc.strerror or exc}); check it and its rights"


def _read_record(
    line: bytes, source: str, number: int, default: Markup
) -> Iterator[RawPost | Failure]:
    place = f"line {number}"
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as exc:
        yield _failure(source, place, "bad_json", f"expected a JSON object ({exc})")
        return
    problem = _problem_of(record)
    if problem:
        yield _failure(source, place, "bad_record", problem)
        return
    record = {key: value for key, value in record.items() if value is not None}
    post_id = str(record.get("id", f"{source}#{number}"))
    markup: Markup = record.get("format", default)
    tags = tuple(str(tag) for tag in record.get("tags", ()) if tag is not None)
    title = str(record.get("title", ""))
    if "question" not in record:
        body = next(str(record[key]) for key in _BODY_KEYS if key in record)
        post = _document(source, place, post_id, title, body, markup)
        yield post._replace(tags=tags)
        return
    answers = [f"{post_id}/answer"] if "answer" in record else []
    yield RawPost(
        source, place, post_id, "question", None, answers[0] if answers else None,
        None, None, tags, title, str(record["question"]), markup,
    )  # fmt: skip
    for answer_id in answers:
        yield RawPost(
            source, place, answer_id, "answer", post_id, None, None, None, (), "",
            str(record["answer"]), markup,
        )  # fmt: skip


def _problem_of(record: object) -> str | None:
    if not isinstance(record, dict):
        return f"expected a JSON object, got {type(record).__name__}"
    return next(_problems_of(record), None)


def _problems_of(record: dict[str, object]) -> Iterator[str]:
    if all(record.get(key) is None for key in _BODY_KEYS):
        yield f"expected one of {', '.join(_BODY_KEYS)}, got {', '.join(record)!r}"
    if record.get("format") not in (None, *get_args(Markup)):
        yield f"expected format among {get_args(Markup)}, got {record['format']!r}"
    if not isinstance(record.get("tags") or [], list):
        yield f"expected a list of tags, got {record['tags']!r}"
    for key in ("id", "title", *_BODY_KEYS):
        if isinstance(record.get(key), (list, dict, bool)):
            yield f"expected a text as {key}, got {str(record[key])[:80]}"
    if len(str(record.get("id", ""))) > _MAX_ID:
        yield f"expected an id of at most {_MAX_ID} characters"


def _failure(
    source: str, place: str, reason: str, detail: str, kept: bool = False
) -> Failure:
    return Failure("ingestion", source, place, source, reason, detail, kept)
