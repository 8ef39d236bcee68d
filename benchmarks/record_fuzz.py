"""Throw damaged raw files of every kind at the readers; print crashes and losses.

Each case damages some records of one small file, cut from the embedded sample, and
reads it as ingestion does, texts cleaned. A reader may answer with records, with
failures that name their place and reason, or with one of this project's errors;
anything else is a crash. If records are on lines of their own, those that were not
damaged must all be there. Nothing may take longer than a few seconds of CPU time.

Example:
    python -m benchmarks.record_fuzz --records 100000 --workers 2
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mathamr_kedro import corpus, trec
from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.base.records import Failure

SAMPLE = Path(__file__).parent.parent / "data/01_raw/sample"
ROWS = 24  # records of a file
LIMIT = 5.0  # seconds of CPU time, a file
PIECES = [
    *(b'"', b"'", b"\t", b"\n", b"\r", b"\0", b"<", b">", b"&", b"&#0;", b"&#xD800;"),
    *(b"&bogus;", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<row", b"/>", b"</posts>"),
    *(b"\xff\xfe", b"\xed\xa0\x80", "²".encode(), b"\\ud800", b"9" * 4000, b"-1"),
    *(b"{", b"}", b"[", b"]", b"null", b"true", b"NaN", b"$", b"$$", b"\\[", b"\\("),
    *(b"\\begin{align}", b"\\end{", b"```", b"---\n", b"%", b'<span class="math-'),
    *(b"<math>", b"</math>", b"<script>", b"\x1b[31m", b"\\verb|", b" " * 3000),
]

Read = Callable[[Path], Iterable[object]]


class Kind(NamedTuple):
    """A kind of file: its place in a collection, and how it is read."""

    name: str
    path: str
    """Relative to the folder of a case."""
    lines: list[bytes]
    """A header, records one a line, and an end."""
    read: Read
    """Yields what a reader makes of the folder."""
    find_id: Callable[[bytes], str | None] | None = None
    """The id of an undamaged record, if records are on lines of their own."""


class Result(NamedTuple):
    """What became of a case."""

    kind: str
    records: int
    problem: str
    seconds: float


def _cut(path: str, lines: int = ROWS) -> list[bytes]:
    data = (SAMPLE / path).read_bytes()
    data = gzip.decompress(data) if path.endswith(".gz") else data
    rows = data.splitlines(keepends=True)
    is_xml = path.endswith(".xml")
    return [*rows[: lines + 2], rows[-1]] if is_xml else rows[: lines + 1]


def _attribute(name: str) -> Callable[[bytes], str | None]:
    def find(line: bytes) -> str | None:
        start = line.find(f' {name}="'.encode())
        at = start + len(name) + 3
        return line[at : line.index(b'"', at)].decode() if start >= 0 else None

    return find


def _first_cell(line: bytes) -> str | None:
    cell = line.split(b"\t")[0].decode()
    return cell if cell.isdigit() else None


def _of_arqmath(part: str, **files: object) -> Read:
    def read(folder: Path) -> Iterator[object]:
        settings = {"posts": "Posts.V1.3.xml", **files}
        collection = corpus.ArqmathCollection(folder, corpus.ArqmathFiles(**settings))
        if part == "formulas":
            yield from collection.formulas()
        elif part == "topic_notes":
            yield from collection.topic_notes().values()
        else:
            yield from _clean(getattr(collection, part)())

    return read


def _clean(records: Iterable[object]) -> Iterator[object]:
    cleaner = corpus.PostCleaner()

    def clean(record: object) -> tuple[object, list[Failure]]:
        return cleaner(record) if isinstance(record, corpus.RawPost) else (record, [])

    for batch in corpus.clean_in_batches(records, clean, ROWS):
        yield from batch.records
        yield from batch.failures


def _of_own(unit: str) -> Read:
    def read(folder: Path) -> Iterator[object]:
        collection = corpus.OwnCollection(folder, unit)
        yield from _clean(collection.posts())
        yield from collection.formulas()

    return read


def _of_file(name: str, read: Callable[[Path], object]) -> Read:
    return lambda folder: [read(folder / name)]


@cache
def kinds() -> list[Kind]:
    """Return the kinds of files that people bring."""
    latex = "Formulas/latex_representation_v3/1.tsv"
    slt = "Formulas/slt_representation_v3/1.tsv"
    tables = {"latex": str(Path(latex).parent), "slt": str(Path(slt).parent)}
    row = _attribute("Id")
    topics = {"topics": ("Topics/*/*.xml",)}
    notes = "Topics/Task1/Topics_Task1_Sample_Information.csv"
    own = _own_texts()
    run = [f"A.1\t{i}\t{i}\t{1 / i:.4f}\tx\n".encode() for i in range(1, ROWS)]
    qrels = {"qrels": {"task1": ("Qrels/qrel_task1_sample.tsv",)}}
    return [
        _from_sample("Posts.V1.3.xml", _of_arqmath("posts"), row),
        _from_sample(
            "Comments.V1.3.xml", _of_arqmath("comments", comments="Comments*"), row
        ),
        _from_sample(latex, _of_arqmath("formulas", formulas=tables), _first_cell),
        _from_sample(f"{slt}.gz", _of_arqmath("formulas", formulas=tables)),
        *(
            _from_sample(
                f"Topics/Task{n}/Topics_Task{n}_Sample.xml",
                _of_arqmath("topics", **topics),
            )
            for n in (1, 2)
        ),
        _from_sample(notes, _of_arqmath("topic_notes", topic_notes=(notes,))),
        _from_sample("Qrels/qrel_task1_sample.tsv", _of_arqmath("judgments", **qrels)),
        Kind("qrels file", "q.tsv", _cut("Qrels/qrel_task1_sample.tsv"),
             _of_file("q.tsv", trec.read_qrels)),
        Kind("run file", "r.tsv", run, _of_file("r.tsv", trec.read_run)),
        *(
            Kind(f"own {Path(path).suffix}", path, lines, _of_own(unit), find_id)
            for path, lines, unit, find_id in own
        ),
    ]  # fmt: skip


def _from_sample(
    path: str, read: Read, find_id: Callable[[bytes], str | None] | None = None
) -> Kind:
    return Kind(Path(path).name, path.removesuffix(".gz"), _cut(path), read, find_id)


def _own_texts() -> Iterator[tuple[str, list[bytes], str, Callable | None]]:
    folder = Path(tempfile.mkdtemp())
    (folder / "Posts.V1.3.xml").write_bytes(b"".join(_cut("Posts.V1.3.xml")))
    collection = corpus.ArqmathCollection(folder, corpus.ArqmathFiles("Posts.V1.3.xml"))
    posts = [p for p in collection.posts() if isinstance(p, corpus.RawPost)]
    records = [
        {"id": f"own{p.post_id}", "text": p.body, "format": "html"} for p in posts
    ]
    lines = [json.dumps(r).encode() + b"\n" for r in records]
    yield "a.jsonl", lines, "file", lambda line: json.loads(line)["id"]
    html = [f"<h1>{p.post_id}</h1>\n{p.body}\n".encode() for p in posts]
    yield "a.html", html, "section", None
    marked = ["---\ntitle: x\ntags: [a]\n---\n"]
    marked += [f"# {p.post_id}\n\nLet $x_{{{p.score}}}$.\n\n    code\n" for p in posts]
    yield "a.md", [m.encode() for m in marked], "section", None
    tex = [
        rf"\section{{A}} Let $\alpha_{i}$ be \emph{{x}}. % y" + "\n"
        for i in range(ROWS)
    ]
    start = b"\\documentclass{article}\n\\begin{document}\n"
    yield (
        "a.tex",
        [start, *(t.encode() for t in tex), b"\\end{document}\n"],
        "section",
        None,
    )
    yield "a.txt", [f"Let $x^{i}$.\n".encode() for i in range(ROWS)], "file", None


def damage(record: bytes, chance: random.Random) -> bytes:
    """Return a damaged copy of a record."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(record))
        end = min(len(record), start + chance.randint(0, 30))
        piece = chance.choice(PIECES)
        match chance.randrange(6):
            case 0:
                record = record[:start] + record[end:]
            case 1:
                record = record[:end] + record[start:]
            case 2 | 3:
                record = record[:start] + piece + record[start:]
            case 4:
                record = record[:start] + piece + record[end:]
            case 5:
                record = record[:start] + chance.randbytes(4) + record[end:]
    return record


def try_case(number: int) -> Result:
    """Damage some records of one file and read it."""
    chance = random.Random(number)
    kind = kinds()[number % len(kinds())]
    lines = list(kind.lines)
    hurt = chance.sample(range(len(lines)), min(len(lines), chance.randint(1, 8)))
    for place in hurt:
        line = lines[place]
        # A lost line break would take the next record along.
        text = line.removesuffix(b"\n") if kind.find_id else line
        lines[place] = damage(text, chance) + line[len(text) :]
    whole = [line for i, line in enumerate(kind.lines) if i not in hurt]
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / kind.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(lines))
        if not (Path(name) / "Posts.V1.3.xml").exists() and "own" not in kind.name:
            (Path(name) / "Posts.V1.3.xml").write_text("<posts/>\n")
        started = time.process_time()
        problem = _read_case(kind, Path(name), whole)
        seconds = time.process_time() - started
    if seconds > LIMIT:
        problem = problem or f"took {seconds:.1f} s"
    return Result(kind.name, len(hurt), problem, seconds)


def _read_case(kind: Kind, folder: Path, whole: list[bytes]) -> str:
    try:
        found = list(kind.read(folder))
    except MathAMRError as error:
        return "" if str(error).strip() else "an error without a message"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    failures = [f for f in found if isinstance(f, Failure)]
    if any(not (f.source and f.reason) for f in failures):
        return "a failure without its place or reason"
    return _find_loss(kind, found, whole)


def _find_loss(kind: Kind, found: list[object], whole: list[bytes]) -> str:
    if kind.find_id is None:
        return ""
    ids = Counter(str(value) for record in found for value in _ids_of(record))
    wanted = (kind.find_id(line) for line in whole)
    lost = [name for name in wanted if name is not None and not ids[name]]
    return f"lost undamaged records {lost}" if lost else ""


def _ids_of(record: object) -> Iterator[object]:
    if isinstance(record, Failure):
        yield record.record_id
        return
    for name in ("post_id", "comment_id", "formula_id"):
        yield getattr(record, name, None)


def main() -> int:
    """Run the cases; the exit code says whether a reader crashed or lost a record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=5000, help="to damage")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    cases = range(options.seed, options.seed + options.records * 2 // 9)
    counts: Counter[str] = Counter()
    problems: Counter[str] = Counter()
    slowest: Counter[str] = Counter()
    with ProcessPoolExecutor(options.workers) as pool:
        results = pool.map(try_case, cases, chunksize=50)
        for number, result in zip(cases, results, strict=True):
            counts[result.kind] += result.records
            slowest[result.kind] = max(slowest[result.kind], result.seconds)
            if result.problem:
                problems[result.kind] += 1
                print(f"case {number}, {result.kind}: {result.problem}", flush=True)
    print(f"{'file':<40} {'records':>8} {'problems':>8} {'slowest':>8}")
    for kind, number in counts.items():
        print(f"{kind:<40} {number:>8,} {problems[kind]:>8} {slowest[kind]:>6.2f} s")
    print(f"{sum(counts.values()):,} records, {sum(problems.values())} problems")
    return int(bool(problems))


if __name__ == "__main__":
    raise SystemExit(main())
