r"""Summary of a run of ``kedro run``: its scores, its reports, what to do next.

::

    Done in 3 min 48 s
    nDCG' of Task 1, own, 24 topics: mathamr_plus 0.872, bm25 0.847
    Reports  data/demo/08_reporting: ingestion.md, evaluation.md
    Next     mathamr show summary --env demo
             mathamr search 'is $\sqrt p$ irrational for a prime $p$?' --env demo
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kedro.io import CatalogProtocol, DatasetError

from mathamr_kedro.base.formatting import format_duration, format_score
from mathamr_kedro.hints import complete_commands

_QUERY = r"'is $\sqrt p$ irrational for a prime $p$?'"
_SHOWN = 3
"""Systems, or topic sets, that a line names."""


def summarise_run(
    catalog: CatalogProtocol,
    made: Collection[str],
    seconds: float,
    env: str | None,
    data_root: str | None,
) -> Iterator[str]:
    """Yield some lines about a run that ended well.

    Args:
        catalog: of the run.
        made: datasets that the run wrote.
        seconds: that it took.
        env: its environment.
        data_root: its folder, if that is not the environment's.
    """
    yield f"Done in {format_duration(seconds)}"
    if "metrics" in made:
        try:
            yield from _describe_metrics(catalog.load("metrics"))
        except DatasetError:  # another process deleted it
            pass
    yield from _list_reports(catalog, sorted(made))
    if "metrics" in made:
        for title, command in (("Next", "show summary"), ("", f"search {_QUERY}")):
            hint = complete_commands(f"`mathamr {command}`", env, data_root)
            yield f"{title:<8} {hint.strip('`')}"


def _describe_metrics(metrics: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each task: the best systems, or the best one of each set."""
    if not metrics:
        yield "No topic has judgments, so there are no scores"
    for task in dict.fromkeys(m["task"] for m in metrics):
        measure = next(m["measure"] for m in metrics if m["task"] == task)
        chosen = [m for m in metrics if (m["task"], m["measure"]) == (task, measure)]
        chosen.sort(key=lambda m: -m["mean"])
        sets = {m["topic_set"]: m for m in reversed(chosen)}
        if len(sets) == 1:
            where = f", {chosen[0]['topic_set']}, {chosen[0]['topics']} topics"
            named = [f"{m['system']} {format_score(m['mean'], 3)}" for m in chosen]
        else:
            where = ", best system of each topic set"
            named = [
                f"{name} {format_score(m['mean'], 3)} ({m['system']})"
                for name, m in sorted(sets.items())
            ]
        yield f"{measure} of Task {task}{where}: {', '.join(named[:_SHOWN])}"


def _list_reports(catalog: CatalogProtocol, made: Sequence[str]) -> Iterator[str]:
    files = [catalog[name]._describe().get("filepath") for name in made]
    pages = [Path(str(file)) for file in files if str(file).endswith(".md")]
    if not pages:
        return
    folder = Path(os.path.commonpath([page.parent for page in pages]))
    inside = ", ".join(str(page.relative_to(folder)) for page in pages)
    here = Path.cwd()
    shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
    yield f"Reports  {shown}: {inside}"
