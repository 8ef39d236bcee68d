"""``mathamr export release``: package an encoder for use on other collections."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.cli._options import in_environment


@click.command(name="release")
@click.argument("name")
@click.option(
    "--model",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of a training, or what `python -m mathamr_kedro.learning` wrote "
    "(default: the environment's encoder).",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write (default: src/mathamr_kedro/encoders/NAME).",
)
@click.option("--replace", is_flag=True, help="Replace the folder if it exists.")
@in_environment
def command(
    name: str,
    model: Path | None,
    out: Path | None,
    replace: bool,
    env: str | None,
    data_root: str | None,
) -> None:
    r"""Write an encoder with its vocabularies and a model card.

    Other collections use it through `training.start_from` and
    `preprocessing.vocabulary.source`. Write the sections of the card on licence and
    limits yourself.

    \b
      mathamr export release mine --env pool
      mathamr export release mine --env pool --model trained --out elsewhere
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise click.UsageError(f"Expected a name of letters and digits (got {name!r})")
    # Imported here so that wrong options are rejected without loading torch.
    from mathamr_kedro.learning import Provenance, release_encoder  # noqa: PLC0415
    from mathamr_kedro.project.catalog import open_catalog  # noqa: PLC0415

    folder = out or _find_place(name)
    catalog: Any = open_catalog(env, data_root)
    graphs = catalog.load("mathamr_plus.prepared")
    chosen = model or _find_current(catalog, graphs.folder.name)
    surroundings = {
        "environment": env or "base",
        "parser": catalog.load("amr_parser").get("parser", "not recorded"),
        "posts": graphs.report["posts"],
    }
    provenance = Provenance(
        surroundings=surroundings, metrics=_find_metrics(catalog, chosen)
    )
    release_encoder(folder, chosen, graphs, provenance, overwrite=replace)
    size = sum(file.stat().st_size for file in folder.iterdir())
    click.echo(f"Wrote {folder} ({size / 1e6:.1f} MB); edit its README.md")


def _find_place(name: str) -> Path:
    from mathamr_kedro.project.catalog import find_project  # noqa: PLC0415

    package = find_project() / "src" / "mathamr_kedro"
    if not package.is_dir():
        raise click.UsageError("Outside a checkout, name the folder with --out FOLDER")
    return package / "encoders" / name


def _find_current(catalog: Any, graphs: str) -> Path:
    """Return the folder of the encoder that the environment uses now."""
    if not catalog["mathamr_plus.model"].exists():
        raise MissingInputError(
            "No encoder to release; run the stage 'training', or pass --model"
        )
    encoder = catalog.load("mathamr_plus.model")
    facts, folder = encoder.facts, encoder.folder
    if facts["prepared_graphs"] != graphs:
        raise ConfigurationError(
            f"Expected an encoder of the current graphs {graphs!r} (got one of "
            f"{facts['prepared_graphs']!r}); run the stage 'training'"
        )
    if facts.get("best_epoch") == 0:
        raise ConfigurationError(
            f"Expected an encoder trained here (got {facts['start_from']!r}, which "
            "is released already); pass the folder of its training with --model"
        )
    found: Path = folder
    return found


def _find_metrics(catalog: Any, model: Path) -> list[dict[str, Any]]:
    """Return the scores of these weights in the environment's evaluation, if any.

    They may have been evaluated right after training, or as a released encoder.
    """
    from mathamr_kedro.learning import find_model, has_same_weights  # noqa: PLC0415

    if not catalog["mathamr_plus.model"].exists():
        return []
    current = catalog.load("mathamr_plus.model").folder
    if not has_same_weights(find_model(model), find_model(current)):
        return []
    cells = catalog.load("experiment_cells").list()
    found = [
        cell for cell in cells if cell.record.encoder.get("folder") == current.name
    ]
    return found[-1].metrics if found else []
