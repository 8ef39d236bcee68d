"""Own corpora: a folder of Markdown, HTML, LaTeX, Word, PDF, Lean or JSONL files.

```
notes/
  primes.md          one document per section or file (unit)
  paper.tex          with unit: statement, one per theorem, lemma, ... (latex)
  page.html
  talk.docx          as Markdown, by Pandoc; .ipynb and .rst too
  scan.pdf           one document per page
  Basic.lean         one document per declaration
  faq.jsonl          one record per line:
                     {"id": "1", "title": "...", "text": "...", "tags": ["a"]}
                     {"id": "2", "question": "...", "answer": "..."}
```

A document's id is its path in the folder, with ``#n`` for the n-th section. Title, tags
and date may be in the front matter of a Markdown file; formulas may be LaTeX or, in
HTML and Markdown, MathML. A question with its answers becomes a thread and a training
pair. ``format`` in a JSONL record names its markup (``markdown`` by default).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MathAMRError,
    MissingInputError,
)
from mathamr_kedro.base.progress import count_bytes
from mathamr_kedro.base.records import (
    TEXT,
    Failure,
    Formula,
    Statement,
    StatementLink,
)
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus.extraction import PostCleaner, clean_text
from mathamr_kedro.corpus.formats import (
    PANDOC,
    check_size,
    read_lean,
    read_pdf,
    read_with_pandoc,
)
from mathamr_kedro.corpus.json_records import read_posts, read_records
from mathamr_kedro.corpus.latex.corpus import LatexCorpus
from mathamr_kedro.corpus.math_elements import MathElement, may_hold_math
from mathamr_kedro.corpus.raw import (
    NO_TEXT,
    Collection,
    Markup,
    Part,
    RawPost,
    T,
    convert,
    make_failure,
)
from mathamr_kedro.corpus.sections import FrontMatter, Section, split_sections

Unit = Literal["statement", "section", "file"]
"""Units of which documents are made; files without statements are split by sections."""

_MARKUPS: dict[str, Markup] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".tex": "latex",
    ".txt": "text",
    **dict.fromkeys(PANDOC, "markdown"),
    ".pdf": "text",
    ".lean": "markdown",
}
_CONVERTED = (*PANDOC, ".pdf", ".lean")  # hold no MathML
_HTML_TITLE = re.compile(r"<title[^<>]*>([^<]*)</title", re.IGNORECASE)


class OwnCollection(Collection):
    """Lazy reader of a folder of files."""

    def __init__(self, root: str | Path, unit: Unit = "section") -> None:
        super().__init__(root)
        if unit not in get_args(Unit):
            raise ConfigurationError(
                f"Expected one of {list(get_args(Unit))} for 'unit' of an own corpus "
                f"(got {unit!r}): `kedro run --env own --params unit=statement`"
            )
        self._unit = unit
        self._lean_kinds: dict[PostId, str] = {}  # of declarations that were read

    def check_layout(self) -> list[Path]:
        """Return all files."""
        if not self.root.is_dir():
            raise MissingInputError(
                f"The folder {str(self.root)!r} is missing; name yours: `kedro run "
                "--env own --params raw_root=FOLDER`"
            )
        files = [f for f in list_shown(self.root) if _is_file(f)]
        if not any(_markup_of(f) or _is_jsonl(f) for f in files):
            raise MissingInputError(
                f"Expected Markdown, HTML, LaTeX, Word, PDF or JSONL files in "
                f"{str(self.root)!r}; name your folder: `kedro run --env own "
                "--params raw_root=FOLDER`"
            )
        return files

    def list_files(self, part: Part) -> list[Path]:
        """Return the files that are read, whatever the part."""
        return [file for file in self.check_layout() if not self._refuse_link(file)]

    @property
    def _settings(self) -> tuple[str, ...]:
        """The unit, and links that are not followed."""
        refused = (f for f in self.check_layout() if self._refuse_link(f))
        return (self._unit, *(f.relative_to(self.root).as_posix() for f in refused))

    def _refuse_link(self, path: Path) -> Failure | None:
        """Return why a link is not followed: only files inside the folder are read."""
        if not path.is_symlink():
            return None
        source = path.relative_to(self.root).as_posix()
        # pathlib would raise for a link that leads to itself.
        target = Path(os.path.realpath(path))
        if not target.is_relative_to(os.path.realpath(self.root)):
            detail = "a link that leads out of the folder; copy the file into it"
            return make_failure(source, "", "link_out_of_folder", detail)
        if not target.is_file():
            detail = "a link that leads nowhere"
            return make_failure(source, "", "unreadable_file", detail)
        return None

    def posts(self) -> Iterator[RawPost | Failure]:
        """Yield the documents of all files, ordered by file name."""
        for path in self.check_layout():
            if _markup_of(path) is not None and path.exists():
                count_bytes(path.stat().st_size)
            if _markup_of(path) != "latex" or self._latex.is_document(path):
                yield from self.read_file(path)
        for source, encoding in self._latex.encodings.items():
            detail = f"read as {encoding}; if letters are wrong, save it as UTF-8"
            yield make_failure(source, "", "other_encoding", detail, kept=True)

    def statements(self) -> Iterator[Statement | Failure]:
        """Yield kind, number, name and place of documents (``unit: statement``)."""
        if self._unit != "statement":
            return
        yield from self._latex.statements()
        files = (f for f in self.check_layout() if _markup_of(f) != "latex")
        for post in (found for file in files for found in self.read_file(file)):
            if isinstance(post, RawPost) and post.post_type == "document":
                kind = self._lean_kinds.get(post.post_id, TEXT)
                yield Statement(
                    post_id=post.post_id,
                    kind=kind,
                    name=None if kind == TEXT else post.title,
                    section=post.title if kind == TEXT else "",
                    source=post.source,
                    place=post.place,
                )

    def statement_ids(self) -> Iterator[PostId]:
        """Yield the ids of the theorems, lemmas, ... of LaTeX files."""
        return self._latex.statement_ids() if self._unit == "statement" else iter(())

    def statement_links(self) -> Iterator[StatementLink | Failure]:
        """Yield which statements the proofs of LaTeX files cite."""
        return self._latex.links() if self._unit == "statement" else iter(())

    @cached_property
    def _latex(self) -> LatexCorpus:
        files = [f for f in self.list_files("posts") if _markup_of(f) == "latex"]
        return LatexCorpus(self.root, files, self._unit)

    def formulas(self) -> Iterator[Formula | Failure]:
        """Yield all formulas if documents hold MathML; texts hold them otherwise."""
        files = (f for f in self.check_layout() if _markup_of(f) != "latex")
        files = (f for f in files if f.suffix.lower() not in _CONVERTED)
        found = (post for file in files for post in self.read_file(file))
        bodies = (post.body for post in found if isinstance(post, RawPost))
        if not any(map(may_hold_math, bodies)):
            return
        for post in PostCleaner().watch(self.posts()):
            if not isinstance(post, Failure):  # reported with the posts
                yield from _list_formulas(post)

    def read_file(self, path: Path) -> Iterator[RawPost | Failure]:
        """Yield the documents of one file of the folder."""
        source = path.relative_to(self.root).as_posix()
        markup = _markup_of(path)
        if (refused := self._refuse_link(path)) is not None:
            yield refused
        elif _is_jsonl(path):
            yield from read_posts(read_records(path, source), source, "markdown")
        elif markup == "latex":
            yield from self._latex.read(path)
        elif path.suffix.lower() == ".bib":
            detail = "a bibliography is no text to search; skipped"
            yield make_failure(source, "", "bibliography", detail)
        elif markup is None:
            detail = f"expected {' '.join(_MARKUPS)} .jsonl, got {path.suffix!r}"
            yield make_failure(source, "", "unknown_file_type", detail)
        elif path.suffix.lower() == ".pdf":
            yield from self._read_pdf(path, source)
        else:
            is_plain = path.suffix.lower() not in PANDOC
            text = (
                self._latex.read_text(source)
                if is_plain
                else _convert(read_with_pandoc, path, source)
            )
            if isinstance(text, Failure):
                yield text
            elif path.suffix.lower() == ".lean":
                yield from self._read_lean(text, source)
            else:
                yield from self._read_document(text, source, markup, is_plain)

    def _read_pdf(self, path: Path, source: str) -> Iterator[RawPost | Failure]:
        """Yield the pages of a PDF, or all of it as one document."""
        found = _convert(read_pdf, path, source)
        if isinstance(found, Failure):
            yield found
            return
        title, pages = found
        detail = "only the text layer of a PDF is read: formulas are damaged"
        yield make_failure(source, "", "lossy_pdf", detail, kept=True)
        if self._unit == "file":
            pages = ["\n\n".join(pages)]
        for number, body in enumerate(pages, start=1):
            if body.strip():
                post_id = source if len(pages) == 1 else f"{source}#{number}"
                place = "" if self._unit == "file" else f"page {number}"
                yield RawPost(
                    source, place, post_id, title=title, body=body, markup="text"
                )

    def _read_lean(self, text: str, source: str) -> Iterator[RawPost | Failure]:
        """Yield the declarations of Lean, and the texts of the module."""
        texts = 0
        for line, kind, name, doc, statement in read_lean(text):
            texts += not name
            post_id = f"{source}#{name or texts}"
            if name:
                self._lean_kinds[post_id] = kind
            code = f"```\n{statement}\n```" if statement else ""
            yield RawPost(
                source, f"line {line + 1}", post_id, title=name,
                body="\n\n".join(filter(None, (doc, code))), markup="markdown",
            )  # fmt: skip

    def _read_document(
        self, text: str, source: str, markup: Markup, is_plain: bool
    ) -> Iterator[RawPost | Failure]:
        front = FrontMatter.read(text) if markup == "markdown" else FrontMatter()
        if markup == "html" and (named := _HTML_TITLE.search(text)) is not None:
            front = FrontMatter(title=named[1].strip())
        if front.problem:
            yield make_failure(
                source, "line 1", "bad_front_matter", front.problem, kept=True
            )
        first, text = text.count("\n", 0, front.length), text[front.length :]
        sections = split_sections(text, markup)
        if self._unit == "file" and sections:
            sections = [Section(0, "", text)]
        if not sections:
            yield make_failure(source, "", "empty_text", NO_TEXT)
        for number, (line, title, body) in enumerate(sections, start=1):
            yield RawPost(
                source=source,
                place=f"line {first + line + 1}" if is_plain else f"section {number}",
                post_id=source if len(sections) == 1 else f"{source}#{number}",
                creation_date=front.date,
                tags=front.tags,
                title=title or front.title,
                body=body,
                markup=markup,
            )


def _convert(read: Callable[[Path], T], path: Path, source: str) -> T | Failure:
    """Convert a file of another program."""
    try:
        check_size(path)
        return read(path)
    except MathAMRError as exc:
        is_missing = isinstance(exc, MissingInputError)
        reason = "missing_extra" if is_missing else "unreadable_file"
        return make_failure(source, "", reason, str(exc))


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
            place=place,
            presentation=mathml,
            content=mathml if MathElement(mathml).has_content else "",
        )


def list_shown(folder: Path) -> list[Path]:
    """Return the files below a folder in order, without hidden ones (``.git``)."""
    below = len(folder.parts)
    return sorted(
        path
        for path in folder.rglob("*")
        if not any(part.startswith(".") for part in path.parts[below:])
    )


def _is_file(path: Path) -> bool:  # a link that leads nowhere is reported
    return path.is_file() or (path.is_symlink() and not path.exists())


def _markup_of(path: Path) -> Markup | None:
    return _MARKUPS.get(path.suffix.lower())


def _is_jsonl(path: Path) -> bool:
    return path.name.lower().endswith((".jsonl", ".jsonl.gz"))


def read_examples(
    path: Path, source: str, markup: Markup, titles: bool
) -> Iterator[RawPost | Failure]:
    """Yield questions and answers of a JSONL file as texts to learn from."""
    return convert(
        read_posts(read_records(path, source), source, markup),
        lambda post: post._replace(
            post_type="example", title=post.title if titles else ""
        ),
    )
