"""``mathamr doctor``: what exists, is missing or is damaged."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from kedro.framework.project import pipelines
from kedro.io import CatalogProtocol, DatasetError

from mathamr_kedro.amr.transition import TransitionConfig
from mathamr_kedro.base.checksums import CHECKSUMS, list_damage
from mathamr_kedro.base.errors import MathAMRError, find_cause
from mathamr_kedro.base.shards import LIST_NAME, ShardFolder
from mathamr_kedro.cli._options import in_environment
from mathamr_kedro.project.catalog import find_roots, open_context
from mathamr_kedro.project.checks import STAGES
from mathamr_kedro.project.hints import complete_commands
from mathamr_kedro.systems.changes import ChangeStore
from mathamr_kedro.text import ADAPTERS, TEXT_MODELS, explain_absence

_PACKAGES = ("mathamr-kedro", "kedro", "torch", "numpy", "pyarrow", "qdrant-client")
_AGAIN = "run `kedro run` with the --env of your run, its stage rebuilds it"


@click.command()
@in_environment
@click.option(
    "--verify", is_flag=True, help="Compare data, models and indexes with checksums."
)
def command(env: str | None, data_root: str | None, verify: bool) -> None:
    r"""Show which stages have run and what they need; find damaged files.

    \b
    mathamr doctor --env demo             raw data, stages, versions, parser, models
    mathamr doctor --env demo --verify    and every byte of data, models and indexes

    Damage is listed with its remedy; the exit code is 1 then.
    """
    context = open_context(env, data_root)
    root, catalog = find_roots(context)[0], context.catalog
    click.echo(f"raw data      {_describe_raw(catalog)}")
    click.echo(f"data root     {root}")
    for line in _describe_tools(dict(context.params)):
        click.echo(line)
    for stage in STAGES[:-1]:  # the last one writes nothing that a stage reads
        click.echo(f"{stage:<13} {_describe_stage(catalog, stage)}")
    if not verify:
        return
    damage = list(dict.fromkeys(find_damage(root)))
    for line in damage:
        complete = complete_commands(line, env, data_root)
        click.echo(f"damaged: {complete}", err=True)
    click.echo(f"verified      {f'{len(damage)} damaged' if damage else 'whole'}")
    if damage:
        sys.exit(1)


def _describe_raw(catalog: CatalogProtocol) -> str:
    try:
        return str(catalog.load("collection").root)
    except DatasetError as exc:
        return str(find_cause(exc) or exc)


def _describe_tools(parameters: dict[str, Any]) -> Iterator[str]:
    versions = [f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES]
    yield f"versions      Python {platform.python_version()}, {', '.join(versions)}"
    parsing = parameters.get("amr_parsing", {})
    parser = parsing.get("parser", "builtin")
    state = "ready"
    if parser == "transition":
        default = TransitionConfig().python
        python = Path(parsing.get("transition", {}).get("python", default))
        state = "ready" if python.exists() else f"no {python} (docs/pipelines)"
    yield f"parser        {parser}: {state}"
    absent = {name: explain_absence(name) for name in (*TEXT_MODELS, *ADAPTERS)}
    here = [name for name, reason in absent.items() if reason is None]
    yield f"text models   {', '.join(here) or 'none'} (`mathamr models` shows all)"


def _describe_stage(catalog: CatalogProtocol, stage: str) -> str:
    """Name the missing outputs of a stage that other stages read."""
    others = (pipelines[name].inputs() for name in STAGES if name != stage)
    made = pipelines[stage].all_outputs() & set().union(*others)
    try:
        missing = sorted(name for name in made if not catalog.exists(name))
    except DatasetError as exc:
        return f"damaged: {find_cause(exc) or exc}"
    return f"no {', '.join(missing)}" if missing else "finished"


def find_damage(root: Path) -> Iterator[str]:
    """Yield a line for each damaged file below a data root."""
    for file in sorted(root.rglob(LIST_NAME)):
        yield from _check_shards(file)
    for file in sorted(root.rglob(CHECKSUMS)):
        yield from list_damage(file.parent, _AGAIN)
    for folder in sorted(root.rglob("06_models/changes")):
        try:
            ChangeStore(folder).read()
        except MathAMRError as exc:
            yield str(exc)


def _check_shards(file: Path) -> Iterator[str]:
    try:
        suffix = json.loads(file.read_text(encoding="utf-8")).get("suffix", "")
        yield from ShardFolder(file.parent, suffix).list_damage()
    except MathAMRError as exc:
        yield str(exc)
    except (ValueError, AttributeError) as exc:
        yield f"Expected JSON in {str(file)!r} ({exc}); delete the folder and {_AGAIN}"
