"""The folder of the sample: rendered in memory, written, compared, used as a cache.

```
Posts.V1.3.xml  Comments.V1.3.xml  PostLinks.V1.3.xml  Tags.V1.3.xml  Votes.V1.3.xml
Formulas/latex_representation_v3/{1,2}.tsv      slt and opt beside it, as .tsv.gz
Topics/Task1/Topics_Task1_Sample.xml            and the topics' information
Topics/Task2/Topics_Task2_Sample.xml
Topics/Formulas/Topics_Sample_Formulas_{Latex,SLT,OPT}.tsv
Qrels/qrel_task1_sample.tsv                     post ids
Qrels/qrel_task2_sample.tsv                     visual ids
README.md  LICENSE
```
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Mapping
from pathlib import Path

from mathamr_kedro.base.errors import MalformedInputError
from tools.sample.collection_texts import LICENSE_TEXT, readme_text
from tools.sample.mathml import Cells
from tools.sample.rows import Collection
from tools.sample.tables import (
    FAMILIES,
    formula_tables,
    judgment_tables,
    topic_formula_tables,
    topic_information,
)
from tools.sample.visual_ids import assign_visual_ids
from tools.sample.xml_files import collection_files, topic_files

_INDEX = "Formulas/{}_representation_v3"
_TOPIC_INDEX = "Topics/Formulas/Topics_Sample_Formulas_{}.tsv"


def render_files(collection: Collection, cells: Mapping[str, Cells]) -> dict[str, str]:
    """Return the text of every file by its path; ``.gz`` ones not yet compressed."""
    visual_ids = assign_visual_ids(cells)
    files = collection_files(collection)
    files |= topic_files(collection)
    for family, parts in formula_tables(collection, cells, visual_ids).items():
        suffix = ".tsv" if family == "latex" else ".tsv.gz"
        for number, text in enumerate(parts, start=1):
            files[f"{_INDEX.format(family)}/{number}{suffix}"] = text
    for family, text in topic_formula_tables(collection, cells).items():
        files[_TOPIC_INDEX.format(FAMILIES[family])] = text
    files["Topics/Task1/Topics_Task1_Sample_Information.csv"] = topic_information(
        collection
    )
    task1, task2 = judgment_tables(collection, visual_ids)
    files["Qrels/qrel_task1_sample.tsv"] = task1
    files["Qrels/qrel_task2_sample.tsv"] = task2
    files["LICENSE"] = LICENSE_TEXT
    distinct = {visual_ids[row.latex] for row in collection.formulas}
    files["README.md"] = readme_text(collection, len(distinct))
    return files


def write_files(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Write what differs from the folder and remove what is no longer made.

    Returns:
        The paths that were written or removed.
    """
    changed = compare_files(folder, files)
    for path in changed:
        target = folder / path
        if path not in files:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        data = files[path].encode()
        if target.suffix == ".gz":
            # No time and no name inside: the same text gives the same bytes.
            data = gzip.compress(data, compresslevel=9, mtime=0)
        target.write_bytes(data)
    return changed


def compare_files(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Return the paths whose text differs from the folder, missing and extra ones too.

    Compressed files are compared by their text: compressors differ between machines.
    """
    present = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
    }
    return sorted(
        path
        for path in present | set(files)
        if path not in present
        or path not in files
        or _read(folder / path) != files[path]
    )


def read_cells(folder: Path) -> dict[str, Cells]:
    """Return the MathML that a folder written before holds, by LaTeX.

    With it, the sample is made again without LaTeXML.
    """
    known: dict[str, Cells] = {}
    for path in sorted(folder.glob(f"{_INDEX.format('latex')}/*.tsv")):
        columns = [
            _formulas(folder / _INDEX.format(family) / f"{path.stem}{suffix}")
            for family, suffix in (
                ("latex", ".tsv"),
                ("slt", ".tsv.gz"),
                ("opt", ".tsv.gz"),
            )
        ]
        known |= _pair(columns, path)
    topics = [folder / _TOPIC_INDEX.format(name) for name in FAMILIES.values()]
    if all(path.exists() for path in topics):
        known |= _pair([_formulas(path) for path in topics], topics[0])
    return known


def _pair(columns: list[list[str]], path: Path) -> dict[str, Cells]:
    latex, slt, opt = columns
    if not len(latex) == len(slt) == len(opt):
        raise MalformedInputError(
            f"Expected as many rows in each family (got {len(latex)}, {len(slt)}, "
            f"{len(opt)}) at {str(path)!r}; delete the folder and run again"
        )
    return {row[0]: Cells(*row[1:]) for row in zip(latex, slt, opt, strict=True)}


def _formulas(path: Path) -> list[str]:
    rows = csv.DictReader(io.StringIO(_read(path), newline=""), dialect="excel-tab")
    return [row["formula"] for row in rows]


def _read(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
