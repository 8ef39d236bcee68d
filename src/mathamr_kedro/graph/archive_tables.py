"""Tables of an archive of graphs that are no graphs: training pairs and failures."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.records import Failure, TrainingPair
from mathamr_kedro.base.types import PostId
from mathamr_kedro.graph.archive import ArchivedFile


class ArchivedTables:
    """Texts of the tables, both ways."""

    @staticmethod
    def format_pairs(
        rows: Iterable[TrainingPair], accepted: Mapping[PostId, PostId | None]
    ) -> bytes:
        r"""Return pairs as a table with labels.

        Args:
            rows: questions and answers.
            accepted: accepted answers by question.

        >>> rows = [TrainingPair("1", "2"), TrainingPair("1", "3")]
        >>> ArchivedTables.format_pairs(rows, {"1": "2"}).decode().splitlines()[1:]
        ['1\t2\taccepted', '1\t3\tanswer']
        """
        text = io.StringIO()
        table = csv.writer(text, "excel-tab", lineterminator="\n")
        table.writerow((*TrainingPair._fields, "label"))
        for question, answer in rows:
            is_accepted = accepted.get(question) == answer
            table.writerow((question, answer, "accepted" if is_accepted else "answer"))
        return text.getvalue().encode()

    @staticmethod
    def read_pairs(
        archive: Path, file: ArchivedFile, text: str
    ) -> Iterator[TrainingPair]:
        """Undo :meth:`format_pairs`; the labels are for others."""
        rows = csv.reader(io.StringIO(text, newline=""), "excel-tab")
        names = TrainingPair._fields
        if tuple(next(rows, [])[: len(names)]) != names:
            raise _bad_line(archive, file, 1, f"the header {names}")
        for number, row in enumerate(rows, start=2):
            if len(row) < len(names):
                raise _bad_line(archive, file, number, "a question and an answer")
            yield TrainingPair(*row[: len(names)])

    @staticmethod
    def format_failures(rows: Iterable[Failure]) -> bytes:
        """Return failures as lines of JSON."""
        lines = (json.dumps(row._asdict()) for row in rows)
        return "".join(f"{line}\n" for line in lines).encode()

    @staticmethod
    def read_failures(
        archive: Path, file: ArchivedFile, text: str
    ) -> Iterator[Failure]:
        """Undo :meth:`format_failures`."""
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                yield Failure(**json.loads(line))
            except (ValueError, TypeError) as exc:
                wanted = f"a failure in JSON ({exc})"
                raise _bad_line(archive, file, number, wanted) from exc


def _bad_line(
    archive: Path, file: ArchivedFile, line: int, wanted: str
) -> MalformedInputError:
    return MalformedInputError(
        f"{str(archive)!r}: expected {wanted} in {file.name!r}, line {line}; export "
        "the archive again"
    )
