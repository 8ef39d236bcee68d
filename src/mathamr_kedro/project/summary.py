r"""Summary of a run of ``kedro run``: its time, its reports, what to do next.

::

    Done in 3 min 48 s
    Reports  data/08_reporting: ingestion.md, evaluation.md
    Next     mathamr show summary --env demo
             mathamr search 'Where is the formula for $\int\ln x$ from?' --env demo
             mathamr serve --env demo
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator, Sequence
from itertools import islice, zip_longest
from pathlib import Path

from kedro.io import CatalogProtocol

from mathamr_kedro.base.formatting import format_duration
from mathamr_kedro.project.hints import complete_commands
from mathamr_kedro.search.explanation import restore_formulas

_LOOKED_AT, _MAX_LETTERS = 300, 60
"""Posts among which a query is chosen, and the length that it may have."""


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
    if "metrics" not in made:
        return
    commands = ["show summary", "serve"]
    if query := _choose_query(catalog):
        commands.insert(1, f"search {shlex.quote(query)}")
    for title, command in zip_longest(("Next",), commands, fillvalue=""):
        hint = complete_commands(f"`mathamr {command}`", env, data_root)
        yield f"{title:<8} {hint.strip('`')}"


def _choose_query(catalog: CatalogProtocol) -> str:
    """Return a title of the collection to ask for, with a formula if one has some."""
    posts = catalog.load("posts").records() if catalog.exists("posts") else ()
    titles = [
        restore_formulas(post.title, post.formula_map)
        for post in islice(posts, _LOOKED_AT)
        if post.title
    ]
    fit = [t for t in titles if len(t) <= _MAX_LETTERS and "`" not in t] or [""]
    return next((title for title in fit if "$" in title), fit[0])


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
