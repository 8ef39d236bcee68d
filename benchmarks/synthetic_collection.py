"""A collection of any size in ARQMath's formats, resampled from a real one.

    python -m benchmarks.synthetic_collection FOLDER --posts 100000 --source COLLECTION

Sentences follow the word triples of the source, so they read like posts and hardly ever
repeat; posts have the lengths of real ones. Two formulas of three are formulas of the
source with their published trees; the third is one with other letters and numbers, in
LaTeX and in both trees alike. One word of five hundred is new. So the vocabularies of
words, numbers and formulas grow with the collection, as those of real posts do.
The embedded sample is the source unless another is named.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
import re
import shutil
import string
import sys
from collections import defaultdict
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize
from xml.sax.saxutils import quoteattr

from lxml import etree

SAMPLE = Path(__file__).resolve().parents[1] / "data/01_raw/sample"
COLUMNS = (
    "id post_id thread_id type comment_id old_visual_id visual_id issue formula".split()
)
FAMILIES = ("latex", "slt", "opt")
FILES_PER_FAMILY = 100
NEW_WORDS = 1 / 500
NEW_FORMULAS = 1 / 3
FORMULA = "\x00"  # stands for a formula among words

_SPAN = re.compile(r'<span class="math-container"[^>]*>.*?</span>', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_NUMBER = re.compile(r"(?<![\w\\.#])\d+(?![\w.])")
_LETTER = re.compile(r"(?<![\\A-Za-z])[a-zA-Z](?![A-Za-z])")
_LEAF = re.compile(r"(<(mi|ci|mn|cn)\b[^>]*>)([^<>]*)(</\2>)")


class Trees(NamedTuple):
    """A formula in the three published forms."""

    latex: str
    slt: str
    opt: str


class Source:
    """What a real collection says about words, lengths and formulas."""

    def __init__(self, folder: Path) -> None:
        self.formulas = read_formulas(folder)
        self.following: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.lengths: list[int] = []
        for text in read_texts(folder):
            words = text.split()
            self.lengths.append(len(words))
            for first, second, third in zip(words, words[1:], words[2:], strict=False):
                self.following[first, second].append(third)
        self.starts = [
            pair for pair in self.following if pair[0][:1].isupper()
        ]  # of sentences
        if not self.formulas or not self.starts:
            sys.exit(
                f"Expected posts and three folders of formulas in {str(folder)!r}, "
                "as in an ARQMath download; name its folder with --source"
            )


def read_texts(folder: Path) -> Iterator[str]:
    """Yield the bodies of the posts as words, with formulas marked."""
    for path in sorted(folder.glob("Posts*.xml")):
        for _, row in etree.iterparse(str(path), tag="row"):
            body = _SPAN.sub(f" {FORMULA} ", row.get("Body") or "")
            yield unescape(_TAG.sub(" ", body))
            row.clear()


def read_formulas(folder: Path) -> list[Trees]:
    """Read the formulas that have all three forms."""
    csv.field_size_limit(1 << 30)
    found: dict[str, dict[str, str]] = {}
    for family in FAMILIES:
        rows: dict[str, str] = {}
        for path in sorted(folder.rglob(f"{family}_representation_v3/*.tsv*")):
            opened = gzip.open if path.suffix == ".gz" else open
            with opened(path, "rt", encoding="utf-8", newline="") as lines:
                for row in csv.DictReader(lines, delimiter="\t"):
                    rows[row["id"]] = row["formula"] or ""
        found[family] = rows
    return [
        Trees(latex, found["slt"][key], found["opt"][key])
        for key, latex in found["latex"].items()
        if latex and found["slt"].get(key) and found["opt"].get(key)
    ]


def vary_formula(formula: Trees, rng: random.Random) -> Trees:
    """Give a formula other letters and numbers, the same ones in all three forms."""
    letters = dict(zip(string.ascii_letters, _shuffle_letters(rng), strict=True))
    numbers: dict[str, str] = {}

    def change(token: str) -> str:
        token = normalize("NFKC", token)  # trees have letters of mathematical alphabets
        if token.isdigit():
            return numbers.setdefault(
                token, str(rng.randrange(10 ** min(len(token) + 1, 6)))
            )
        return letters.get(token, token)

    def change_leaf(match: re.Match[str]) -> str:
        opening, _, token, closing = match.groups()
        return f"{opening}{change(token)}{closing}"

    latex = _NUMBER.sub(lambda m: change(m[0]), formula.latex)
    latex = _LETTER.sub(lambda m: change(m[0]), latex)
    return Trees(
        latex, _LEAF.sub(change_leaf, formula.slt), _LEAF.sub(change_leaf, formula.opt)
    )


def _shuffle_letters(rng: random.Random) -> str:
    """Permute letters; small ones stay small."""
    return "".join(
        "".join(rng.sample(case, len(case)))
        for case in (string.ascii_lowercase, string.ascii_uppercase)
    )


class Writer:
    """Posts, comments and formulas of one collection, written as they are made."""

    def __init__(self, folder: Path, source: Source, posts: int, seed: int) -> None:
        self.rng = random.Random(seed)
        self.source = source
        self.posts = posts
        self.formulas = 0
        self._folder = folder
        self._visual_ids: dict[str, int] = {}
        self._tables: list = []
        self._file = -1

    def write(self) -> None:
        """Write everything: every third post is a question, then two answers to it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with (
            (self._folder / "Posts.V1.3.xml").open("w", encoding="utf-8") as posts,
            (self._folder / "Comments.V1.3.xml").open("w", encoding="utf-8") as notes,
        ):
            posts.write('<?xml version="1.0" encoding="utf-8"?>\n<posts>\n')
            notes.write('<?xml version="1.0" encoding="utf-8"?>\n<comments>\n')
            for post_id in range(1, self.posts + 1):
                self._open_tables(post_id)
                posts.write(self._make_post(post_id))
                if post_id % 2 == 0:
                    text = quoteattr(self._make_text(post_id, 15, "comment"))
                    notes.write(
                        f'  <row Id="{post_id}" PostId="{post_id}" Text={text}/>\n'
                    )
            posts.write("</posts>\n")
            notes.write("</comments>\n")
        self._close_tables()
        for name in (
            "Topics",
            "Qrels",
        ):  # of the sample: there are no others to go with it
            shutil.copytree(SAMPLE / name, self._folder / name, dirs_exist_ok=True)

    def _make_post(self, post_id: int) -> str:
        is_question = post_id % 3 == 1
        kind = "question" if is_question else "answer"
        values: dict[str, object] = {
            "Id": post_id,
            "PostTypeId": 1 if is_question else 2,
            "Score": 3,
            "CreationDate": "2015-01-01T00:00:00.000",
        }
        if is_question:
            values["Title"] = self._make_text(post_id, 8, "title")
            values["Tags"] = "<algebra><proof-writing>"
            if post_id < self.posts:
                values["AcceptedAnswerId"] = post_id + 1
        else:
            values["ParentId"] = self._thread(post_id)
        length = self.rng.choice(self.source.lengths)
        values["Body"] = f"<p>{self._make_text(post_id, length, kind)}</p>"
        cells = " ".join(f"{k}={quoteattr(str(v))}" for k, v in values.items())
        return f"  <row {cells}/>\n"

    def _make_text(self, post_id: int, length: int, kind: str) -> str:
        """Follow the word triples until the length is reached and a sentence ends."""
        rng, following, words = self.rng, self.source.following, []
        pair = rng.choice(self.source.starts)
        words.extend(pair)
        while len(words) < length + 20:
            choices = following.get(pair)
            if choices is None:  # the end of a source text
                pair = rng.choice(self.source.starts)
                words.extend(pair)
                continue
            word = rng.choice(choices)
            words.append(word)
            pair = pair[1], word
            if len(words) >= length and word.endswith((".", "?")):
                break
        return " ".join(self._make_word(word, post_id, kind) for word in words)

    def _make_word(self, word: str, post_id: int, kind: str) -> str:
        if FORMULA in word:
            return word.replace(FORMULA, self._make_formula(post_id, kind))
        if self.rng.random() < NEW_WORDS and word.isalpha():
            letters = self.rng.choices(string.ascii_lowercase, k=self.rng.randint(5, 9))
            return "".join(letters)
        return escape(word, quote=False)

    def _make_formula(self, post_id: int, kind: str) -> str:
        formula = self.rng.choice(self.source.formulas)
        if self.rng.random() < NEW_FORMULAS:
            formula = vary_formula(formula, self.rng)
        self.formulas += 1
        visual_id = self._visual_ids.setdefault(
            formula.latex, len(self._visual_ids) + 1
        )
        comment = post_id if kind == "comment" else ""
        head = (self.formulas, post_id, self._thread(post_id), kind, comment, visual_id)
        for table, cell in zip(self._tables, formula, strict=True):
            table.writerow((*head, visual_id, "", cell))
        latex = escape(formula.latex, quote=False)
        return f'<span class="math-container" id="{self.formulas}">{latex}</span>'

    def _thread(self, post_id: int) -> int:
        return post_id - (post_id - 1) % 3

    def _open_tables(self, post_id: int) -> None:
        number = (post_id - 1) * FILES_PER_FAMILY // self.posts
        if number == self._file:
            return
        self._close_tables()
        self._file = number
        self._open = []
        for family in FAMILIES:
            folder = self._folder / "Formulas" / f"{family}_representation_v3"
            folder.mkdir(parents=True, exist_ok=True)
            file = (folder / f"{number + 1}.tsv").open(
                "w", encoding="utf-8", newline=""
            )
            self._open.append(file)
        self._tables = [
            csv.writer(file, delimiter="\t", lineterminator="\n") for file in self._open
        ]
        for table in self._tables:
            table.writerow(COLUMNS)

    def _close_tables(self) -> None:
        for file in getattr(self, "_open", ()):
            file.close()


def write_collection(
    folder: Path, posts: int, seed: int = 0, source: Path = SAMPLE
) -> int:
    """Write a collection into a folder; return the number of its formulas."""
    writer = Writer(folder, Source(source), posts, seed)
    writer.write()
    return writer.formulas


def main() -> None:
    """Parse the arguments, write, say what was written."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--posts", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--source", type=Path, default=SAMPLE)
    options = parser.parse_args()
    formulas = write_collection(
        options.folder, options.posts, options.seed, options.source
    )
    size = sum(f.stat().st_size for f in options.folder.rglob("*") if f.is_file())
    print(f"{options.posts:,} posts, {formulas:,} formulas, {size / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
