"""Cleaning of raw records, batch by batch; every dropped record is counted.

Every function turns an iterator of raw records into batches; a batch holds the clean
records, the failures, and its counts: ``read = written + dropped``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.base.records import CleanText, Comment, Failure, Post
from mathamr_kedro.corpus.markup import flatten_markup
from mathamr_kedro.corpus.placeholders import (
    MAX_FORMULAS,
    FormulaLookup,
    FormulaMarks,
    FormulaRow,
    clear_private,
)
from mathamr_kedro.corpus.raw import (
    MAX_TEXT,
    RawComment,
    RawPost,
    make_failure,
)

VERSION = 8
"""Version of readers and cleaner; another one rebuilds the tables."""

CUT = "text_cut"
"""Reason of the note about a post that is too long and was cut."""

_COPIED = [name for name in Post._fields if name in RawPost._fields]

Raw = TypeVar("Raw")
Clean = TypeVar("Clean")


class _Batch(NamedTuple, Generic[Clean]):
    """Clean records of one shard, what went wrong, and the account."""

    number: int
    records: list[Clean]
    failures: list[Failure]
    read: int

    @property
    def counts(self) -> dict[str, int]:
        """The account of this batch, for the list of shards."""
        dropped = sum(not failure.kept for failure in self.failures)
        return {"read": self.read, "written": len(self.records), "dropped": dropped}


def clean_in_batches(
    raw: Iterable[Raw | Failure],
    clean: Callable[[Raw], tuple[Clean | None, list[Failure]]] | None,
    size: int,
    is_finished: Callable[[int], bool] = lambda number: False,
) -> Iterator[_Batch[Clean]]:
    """Clean the records in batches of ``size``; finished batches are skipped.

    Raw records are always read (their order numbers the batches), but those of a
    finished batch are not cleaned again.

    Args:
        raw: raw records and failures of the reader.
        clean: returns the clean record (``None``: dropped) and what was wrong; absent:
            records are clean already.
        size: raw records per batch.
        is_finished: tells by number whether a batch was written by an earlier run.
    """
    iterator = iter(raw)
    number = 0
    while rows := list(islice(iterator, size)):
        if not is_finished(number):
            yield _clean_batch(number, rows, clean)
        number += 1


def _clean_batch(
    number: int, rows: list[Any], clean: Callable[..., Any] | None
) -> _Batch:
    records: list[Any] = []
    failures: list[Failure] = []
    for row in map(_refuse_unwritable, rows):
        if isinstance(row, Failure):
            failures.append(row)
            continue
        record, problems = (row, []) if clean is None else clean(row)
        failures += problems
        if record is not None:
            records.append(record)
    # A failure of the reader with kept=True belongs to a record that follows it.
    notes = sum(isinstance(row, Failure) and row.kept for row in rows)
    failures = [failure.classify() for failure in failures]
    return _Batch(number, records, failures, len(rows) - notes)


def _refuse_unwritable(row: Any) -> Any:
    r"""Return the row, or a failure if one of its texts is no Unicode.

    JSON can spell half a surrogate pair (``"\ud800"``), and the name of a file may hold
    any bytes; no table can.
    """
    flat = [part for v in row for part in (v if isinstance(v, tuple) else (v,))]
    bad = next((v for v in flat if isinstance(v, str) and not _is_unicode(v)), None)
    if bad is None:
        return row
    cells: dict[str, Any] = {
        k: _escape(v) for k, v in row._asdict().items() if isinstance(v, str)
    }
    if isinstance(row, Failure):
        return row._replace(**cells)
    record_id = next((cells[name] for name in cells if name.endswith("_id")), "")
    detail = (
        f"expected Unicode text, got half a surrogate pair in {_escape(bad)[:80]!r}"
    )
    place = (cells.get("source", ""), cells.get("place", ""))
    return make_failure(*place, "bad_encoding", detail, record_id)


def _is_unicode(text: str) -> bool:
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _escape(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def clean_text(
    title: str,
    body: str,
    owner: str,
    find_row: FormulaLookup | None = None,
    markup: str = "html",
) -> tuple[CleanText, FormulaMarks]:
    """Return title and body as one clean text, and the formulas found in it.

    Texts that are too long are cut: see :data:`MAX_TEXT` and :data:`MAX_FORMULAS`.

    Args:
        title: may be empty.
        body: the text below it.
        owner: id of the post or topic, for formulas without an id.
        find_row: looks a formula id up in the formula files; ``None`` if the
            collection has none.
        markup: ``html``, ``markdown``, ``latex`` or ``text``.
    """
    marks = FormulaMarks()
    parts = [
        flatten_markup(clear_private(title[:MAX_TEXT]), marks, markup) if title else "",
        flatten_markup(clear_private(body[:MAX_TEXT]), marks, markup),
    ]
    flat = "\n\n".join(part for part in parts if part)
    return marks.place(flat, owner, find_row), marks


class PostCleaner:
    """Turns raw posts into posts; remembers their ids to detect duplicates."""

    def __init__(self, find_row: FormulaLookup | None = None) -> None:
        self._find_row = find_row
        self._seen: set[str] = set()

    def watch(self, raw: Iterable[RawPost | Failure]) -> Iterator[RawPost | Failure]:
        """Yield the raw posts; the second post with an id becomes a failure.

        Works on the raw stream, so that ids of batches of an earlier run count too.
        """
        for post in raw:
            if isinstance(post, RawPost) and post.post_id in self._seen:
                detail = f"post {post.post_id} was read before; the first one is kept"
                yield _failure(post, "duplicate_post_id", detail, kept=False)
                continue
            if isinstance(post, RawPost):
                self._seen.add(post.post_id)
            yield post

    def __call__(self, raw: RawPost) -> tuple[Post | None, list[Failure]]:
        """Clean one post."""
        try:
            clean, marks = clean_text(
                raw.title, raw.body, raw.post_id, self._find_row, raw.markup
            )
        except MathAMRError as exc:
            return None, [_failure(raw, "unreadable_text", str(exc), kept=False)]
        title = clean_text(raw.title, "", raw.post_id, self._find_row, raw.markup)
        thread = raw.parent_id if raw.parent_id is not None else raw.post_id
        # What cleaning does not change is copied by name: a new field of both records
        # only has to be read.
        copied = {name: getattr(raw, name) for name in _COPIED}
        made = {"thread_id": thread, "title": title[0].text, **clean._asdict()}
        post = Post(**copied | made)
        return post, list(self._problems(raw, clean, marks))

    def clean_all(self, raw: Iterable[RawPost | Failure]) -> Iterator[Post | Failure]:
        """Yield clean posts, and why others are skipped or cut."""
        for found in raw:
            if isinstance(found, Failure):
                yield found
                continue
            post, problems = self(found)
            yield from (p for p in problems if not p.kept or p.reason == CUT)
            if post is not None:
                yield post

    def _problems(
        self, raw: RawPost, clean: CleanText, marks: FormulaMarks
    ) -> Iterator[Failure]:
        if marks.is_cut or len(raw.body) > MAX_TEXT:
            detail = f"only its first {MAX_TEXT:,} characters and {MAX_FORMULAS:,} "
            yield _failure(raw, CUT, f"{detail}formulas are read; split it")
        if not clean.text:
            yield _failure(raw, "empty_text", "neither title nor body has text")
        empty = sum(not latex.strip(" $") for latex in marks.latex)
        if empty:
            yield _failure(raw, "empty_formula", f"{empty} formulas without LaTeX")
        if raw.post_type == "answer" and raw.parent_id is None:
            yield _failure(raw, "answer_without_parent", "no ParentId; its own thread")
        for found in marks.disagreements:
            yield found.to_failure(raw.source, raw.place, raw.post_id)


def clean_comment(
    raw: RawComment, find_row: FormulaLookup | None = None
) -> tuple[Comment, list[Failure]]:
    """Clean one comment."""
    owner = f"c{raw.comment_id}"

    def find_its_row(formula_id: str) -> FormulaRow | None:
        # Version 2 of the formula index names only the post of a comment.
        row = None if find_row is None else find_row(formula_id)
        is_its_post = row is not None and row.owner == raw.post_id
        return row._replace(owner=owner) if row is not None and is_its_post else row

    look_up = None if find_row is None else find_its_row
    clean, marks = clean_text("", raw.text, owner, look_up)
    found = marks.disagreements
    problems = [f.to_failure(raw.source, raw.place, owner) for f in found]
    comment = Comment(raw.comment_id, raw.post_id, clean.text, clean.formula_map)
    return comment, problems


def _failure(raw: RawPost, reason: str, detail: str, kept: bool = True) -> Failure:
    return make_failure(raw.source, raw.place, reason, detail, raw.post_id, kept)
