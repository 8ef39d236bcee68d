r"""The LaTeX files of an own corpus: which are documents, and what is in them.

```
main.tex ── \include ──▶ one.tex        main.tex is a document, the others are its parts
         ── \input ────▶ macros.tex
notes.tex                               a document of its own
```

A statement's id consists of its file and its label (``algebra-lemma-silly``), or of its
file and its number there (``algebra.tex#3``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.records import (
    TEXT,
    Failure,
    Statement,
    StatementLink,
    restore_latex,
)
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus.extraction import clean_text
from mathamr_kedro.corpus.formats import check_size, decode
from mathamr_kedro.corpus.latex.document import LatexDocument
from mathamr_kedro.corpus.latex.units import (
    LatexUnit,
    list_citations,
    list_sections,
    list_statements,
    list_whole,
)
from mathamr_kedro.corpus.raw import NO_TEXT, RawPost, make_failure

_COMMENT = re.compile(r"(?<!\\)%.*")
_INPUT = re.compile(
    r"\\(?:input|include|subfile)(?:\s*\{([^{}\n]+)\}|[ \t]+([^\s{}\\%]+))"
)
_CHAPTER = re.compile(r"\\item\s*\\hyperref\s*\[([^]\n]*)\]")
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")


_UNITS = {
    "statement": list_statements,
    "section": list_sections,
    "file": list_whole,
}


class LatexCorpus:
    """Reads the LaTeX files of a folder."""

    def __init__(self, root: Path, files: Iterable[Path], unit: str) -> None:
        self._root, self._unit = root, unit
        self.encodings: dict[str, str] = {}
        """Encodings of the files that are not in UTF-8."""
        self._files = [file.relative_to(root).as_posix() for file in files]

    def is_document(self, path: Path) -> bool:
        """Tell whether a file is a document: no other one includes it."""
        file = path.relative_to(self._root).as_posix()
        return self._owners.get(file, file) == file

    def read(self, path: Path) -> Iterator[RawPost | Failure]:
        """Yield the units of one file and of what it includes."""
        file = path.relative_to(self._root).as_posix()
        failures: list[Failure] = []
        document = self._open(file, failures)
        units = [] if document is None else list(self._list_units(document))
        yield from failures
        if document is not None and not units and len(document.files) == 1:
            yield make_failure(file, "", "empty_text", NO_TEXT)
        for unit in units:
            where = unit.source, unit.place
            if unit.problem:
                yield make_failure(*where, "repeated_label", unit.problem, kept=True)
            yield RawPost(
                *where, unit.post_id, title=unit.title, body=unit.body, markup="latex"
            )

    def statements(self) -> Iterator[Statement]:
        """Yield the statements of all documents, with how others cite them.

        All documents are read before the first one: any may cite it.
        """
        labels = _Labels()
        cited: list[tuple[LatexDocument, list[tuple[str, str]]]] = []
        statements: list[Statement] = []
        for document in self._documents():
            units = list(self._list_units(document))
            labels.add(document, units)
            cited.append((document, list(list_citations(document.text))))
            document.text = ""
            statements += map(_describe, units)
        contexts: dict[PostId, list[str]] = {}
        for document, citations in cited:
            for label, sentence in citations:
                premise = labels.find(document, label)
                if premise is not None:
                    contexts.setdefault(premise, []).append(sentence)
        for statement in statements:
            sentences = "\n\n".join(contexts.get(statement.post_id, ()))
            yield statement._replace(contexts=_read(sentences))

    def statement_ids(self) -> Iterator[PostId]:
        """Yield the ids of the statements; their texts and proofs are not read."""
        for document in self._documents():
            for found in self._list_units(document):
                if found.kind != TEXT:
                    yield found.post_id

    def links(self) -> Iterator[StatementLink | Failure]:
        """Yield which statements proofs cite; an undefined label is a failure."""
        labels = _Labels()
        cited: list[tuple[LatexDocument, LatexUnit]] = []
        for document in self._documents():
            units = list(self._list_units(document))
            labels.add(document, units)
            document.text = ""  # the labels are all that is needed
            cited += [(document, found) for found in units if found.references]
        for document, found in cited:
            known = {found.post_id}
            for label in found.references:
                premise = labels.find(document, label)
                if premise is None and not labels.has(document, label):
                    detail = f"the proof of {found.post_id} names the label {label!r}"
                    yield make_failure(
                        found.source, found.place, "unknown_label", detail, kept=True
                    )
                elif premise is not None and premise not in known:
                    known.add(premise)
                    yield StatementLink(found.post_id, premise)

    def _documents(self) -> Iterator[LatexDocument]:
        for file in self._files:
            if self._owners.get(file, file) == file:
                document = self._open(file, [])
                if document is not None:
                    yield document

    def _open(self, file: str, failures: list[Failure]) -> LatexDocument | None:
        text = self.read_text(file)
        if isinstance(text, Failure):
            failures.append(text)
            return None

        def report(reason: str, source: str, line: int, detail: str) -> None:
            place = f"line {line}"
            failures.append(make_failure(source, place, reason, detail, kept=True))

        document = LatexDocument(file, text, self._include, report)
        chapters = _list_chapters(document)
        if file.removesuffix(".tex") in chapters:
            number = chapters.index(file.removesuffix(".tex")) + 1
            document.preamble.counters.start_chapter(number)
        return document

    def _list_units(self, document: LatexDocument) -> Iterator[LatexUnit]:
        """Yield the units of a document that do not belong to another one."""
        units = _UNITS[self._unit](document)
        places = [document.origins.find_place(unit.start) for unit in units]
        counts = {file: 0 for file, _ in places}
        seen: set[PostId] = set()
        for unit, (file, line) in zip(units, places, strict=True):
            counts[file] += 1
            owner = self._owners.get(file, document.file)
            if owner != document.file and self.is_document(self._root / document.file):
                continue
            post_id = file if len(units) == 1 else f"{file}#{counts[file]}"
            if unit.label and self._unit == "statement":
                labelled = f"{file.removesuffix('.tex')}-{unit.label}"
                if labelled in seen:
                    detail = f"the label {unit.label!r} was read before; now {post_id}"
                    unit.problem = detail
                else:
                    post_id = labelled
            seen.add(post_id)
            unit.post_id, unit.source, unit.place = post_id, file, f"line {line}"
            yield unit

    @cached_property
    def _owners(self) -> Mapping[str, str]:
        """Document that each file belongs to: the first that includes it, or itself."""
        included = {file: self._list_included(file) for file in self._files}
        parts = {part for parts in included.values() for part in parts}
        owners: dict[str, str] = {}
        # Files that include each other in a circle come last; one of them is taken.
        for file in sorted(self._files, key=lambda name: name in parts):
            waiting = [file]
            while waiting:
                part = waiting.pop()
                if part not in owners:
                    owners[part] = file
                    waiting += included.get(part, ())
        return owners

    def _list_included(self, file: str) -> list[str]:
        text = self.read_text(file)
        if isinstance(text, Failure):
            return []
        named = _INPUT.finditer(_COMMENT.sub("", text))
        found = (self._find((n[1] or n[2]).strip(), file) for n in named)
        return [part for part in found if part is not None and part != file]

    def _find(self, name: str, file: str) -> str | None:
        """Return the file that another one names, from its folder up to the root."""
        root = self._root.resolve()
        folder = (self._root / file).parent
        while True:
            for candidate in (f"{name}.tex", name):
                path = folder / candidate
                try:
                    is_there = path.is_file() and path.resolve().is_relative_to(root)
                except (OSError, ValueError):
                    is_there = False
                if is_there:
                    return path.resolve().relative_to(root).as_posix()
            if folder in (self._root, folder.parent):
                return None
            folder = folder.parent

    def _include(self, name: str, file: str) -> tuple[str, str] | str:
        found = self._find(name, file)
        if found is None:
            return "there is no such file in the folder of the corpus; copy it there"
        text = self.read_text(found)
        return text.detail if isinstance(text, Failure) else (found, text)

    def read_text(self, file: str) -> str | Failure:
        """Return the text of a file of the folder, whatever its markup."""
        path = self._root / file
        try:
            check_size(path)
            text, encoding = decode(path.read_bytes())
            if encoding:
                self.encodings[file] = encoding
            return text.replace("\r\n", "\n").replace("\r", "\n")
        except MalformedInputError as exc:
            return make_failure(file, "", "too_large", str(exc))
        except UnicodeDecodeError as exc:
            detail = (
                f"expected a text ({exc.reason} at byte {exc.start}); convert the file"
            )
            return make_failure(file, "", "bad_encoding", detail)
        except OSError as exc:
            detail = (
                f"the file cannot be read ({exc.strerror or exc}); check its rights"
            )
            return make_failure(file, "", "unreadable_file", detail)


def _describe(unit: LatexUnit) -> Statement:
    return Statement(
        post_id=unit.post_id,
        kind=unit.kind,
        number=unit.number,
        name=None if unit.kind == TEXT else _read(unit.title) or None,
        label=unit.label,
        section=_read(unit.section),
        chapter=_read(unit.chapter),
        source=unit.source,
        place=unit.place,
        proved=bool(unit.proofs),
        proof=_read("\n\n".join(unit.proofs)),
    )


class _Labels:
    """The statements of the labels of a corpus."""

    def __init__(self) -> None:
        self._posts: dict[tuple[str, str], PostId] = {}
        self._ids: set[PostId] = set()
        self._others: set[tuple[str, str]] = set()

    def add(self, document: LatexDocument, units: Iterable[LatexUnit]) -> None:
        file = document.file
        for unit in units:
            if unit.kind == TEXT:
                continue
            self._ids.add(unit.post_id)
            for label in (unit.label, *unit.inner_labels):
                if label:
                    self._posts.setdefault((file, label), unit.post_id)
        labels = _LABEL.findall(document.text)
        self._others |= {(file, label.strip()) for label in labels}

    def find(self, document: LatexDocument, label: str) -> PostId | None:
        """Return the statement of a label: of this document, or of another one."""
        for key in self._names(document, label):
            if key in self._posts:
                return self._posts[key]
        return label if label in self._ids else None

    def has(self, document: LatexDocument, label: str) -> bool:
        """Tell whether a label is there, of a section or an equation for instance."""
        return any(key in self._others for key in self._names(document, label))

    @staticmethod
    def _names(document: LatexDocument, label: str) -> Iterator[tuple[str, str]]:
        yield document.file, label
        for file, prefix in document.preamble.externals.items():
            if label.startswith(prefix):
                name = file if file.endswith(".tex") else f"{file}.tex"
                yield name, label[len(prefix) :]


def _list_chapters(document: LatexDocument) -> list[str]:
    r"""Return the files of a book in its order, if a document knows the others.

    The order is that of its list of chapters (``\item \hyperref[...]``), or else of the
    ``\externaldocument``s.
    """
    externals = document.preamble.externals
    stems = {prefix: file.removesuffix(".tex") for file, prefix in externals.items()}
    listed = []
    for label in _CHAPTER.findall(document.text) if externals else ():
        ends = [i + 1 for i, sign in enumerate(label) if not sign.isalnum()]
        prefixes = (label[:end] for end in reversed(ends))
        listed += [stems[p] for p in prefixes if p in stems][:1]
    listed = list(dict.fromkeys(listed))
    is_whole = document.file.removesuffix(".tex") in listed
    return listed if is_whole else list(stems.values())


@lru_cache(maxsize=256)  # statements of a section share its title
def _read(latex: str) -> str:
    """Return LaTeX as text with formulas between dollars."""
    return restore_latex(*clean_text("", latex, "", markup="latex")[0])
