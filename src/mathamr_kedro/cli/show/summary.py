"""``mathamr show summary``: the outputs so far, and where to find them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from kedro.io import CatalogProtocol, DatasetError

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.cli._options import in_environment
from mathamr_kedro.cli._tables import print_table
from mathamr_kedro.evaluation.tables import Table, list_columns
from mathamr_kedro.project.hints import complete_commands

_MEASURES = 4
"""Number of measures shown: nDCG', MAP', P'@10 and Bpref by default."""


@click.command(name="summary")
@in_environment
def command(env: str | None, data_root: str | None) -> None:
    """Summarise the outputs of the pipelines and where to find them."""
    # Loaded here: the help needs no catalog.
    from mathamr_kedro.project.catalog import open_catalog  # noqa: PLC0415

    catalog = open_catalog(env, data_root)
    statistics = _load(catalog, "ingestion_statistics")
    if statistics is None:
        raise MissingInputError("No outputs yet; run `kedro run` or `make demo`")
    _show_ingestion(statistics)
    metrics = _load(catalog, "metrics")
    reports = ["ingestion_report", *(["evaluation_report"] if metrics else [])]
    files = [Path(catalog[name]._describe()["filepath"]) for name in reports]
    click.echo("\nWhere to look")
    viz = "make viz" if Path("Makefile").is_file() else "kedro viz run"
    for what, why in (
        *(
            (str(_shorten(file)), "a report, beside those of other stages")
            for file in files
        ),
        (viz, "the pipelines in your browser"),
        ("kedro ipython", "catalog.load('posts').to_pandas()"),
    ):
        shown = complete_commands(f"`{what}`", env, data_root).strip("`")
        click.echo(f"  {click.style(f'{shown:<42}', bold=True)} {why}")
    _show_metrics(metrics or [])


def _shorten(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _load(catalog: CatalogProtocol, name: str) -> Any:
    try:
        return catalog.load(name)
    except DatasetError:
        return None


def _show_metrics(metrics: Sequence[Mapping[str, Any]]) -> None:
    """Print a table for each topic set: systems between floor and ceiling."""
    for task, name in dict.fromkeys((m["task"], m["topic_set"]) for m in metrics):
        chosen = [m for m in metrics if (m["task"], m["topic_set"]) == (task, name)]
        measures = list(dict.fromkeys(m["measure"] for m in chosen))[:_MEASURES]
        rows: dict[str, dict[str, float]] = {
            "floor (random order)": {m["measure"]: m["floor"] for m in chosen}
        }
        for m in chosen:
            rows.setdefault(m["system"], {})[m["measure"]] = m["mean"]
        rows["ceiling (ideal order)"] = {m["measure"]: m["ceiling"] for m in chosen}
        what = {1: "answers", 2: "formulas"}[task]
        title = f"Task {task} ({what}), {name}: {chosen[0]['topics']} topics"
        click.echo()
        table = Table(title, ("system",), list_columns(measures), rows)
        head, *lines = table.list_lines()
        print_table(head, lines, title)


def _show_ingestion(statistics: dict[str, Any]) -> None:
    posts, formulas = statistics["posts"], statistics["formulas"]
    left_out = sum(f["left_out"] for f in statistics["failures"].values())
    notes = sum(f["kept"] for f in statistics["failures"].values())
    judgments = sum(j["judgments"] for j in statistics["judgments"].values())
    rows = (
        ("posts", posts["total"]),
        *((f"… {kind}", n) for kind, n in statistics.get("statements", {}).items()),
        ("formulas in their texts", statistics["formulas_in_texts"]),
        ("visually distinct formulas", formulas["visual_ids"]),
        ("training pairs", statistics["training_pairs"]),
        ("topics", sum(statistics["topics"].values())),
        ("judgments", judgments),
        ("records skipped / kept with a note", f"{left_out:,} / {notes:,}"),
    )
    shown = [(name, v if isinstance(v, str) else f"{v:,}") for name, v in rows]
    print_table(("", ""), shown, f"Collection {statistics['collection']}")
