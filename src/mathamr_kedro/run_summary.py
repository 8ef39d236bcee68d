r"""Summary of a run of ``kedro run``: its time, its reports, what to do next.

::

    Done in 3 min 48 s
    Reports  data/08_reporting: ingestion.md, evaluation.md
    Next     mathamr show summary --env demo
             mathamr search 'is $\sqrt p$ irrational for a prime $p$?' --env demo
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from kedro.io import CatalogProtocol

from mathamr_kedro.base.formatting import format_duration
from mathamr_kedro.hints import complete_commands

_QUERY = r"'is $\sqrt p$ irrational for a prime $p$?'"


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
    yield from _list_reports(catalog, sorted(made))
    if "metrics" in made:
        for title, command in (("Next", "show summary"), ("", f"search {_QUERY}")):
            hint = complete_commands(f"`mathamr {command}`", env, data_root)
            yield f"{title:<8} {hint.strip('`')}"


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
