"""``mathamr export encoder``: an encoder as safetensors."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="encoder")
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), required=True,
    help="Folder to write to.",
)  # fmt: skip
@click.option(
    "--encoder", "name", default="mathamr_plus", show_default=True,
    help="A released encoder: its name, or the folder of `mathamr export release`.",
)  # fmt: skip
def command(output: Path, name: str) -> None:
    """Write an encoder as safetensors, loadable without Kedro and pickle."""
    from mathamr_kedro.integrations import PortableEncoder  # noqa: PLC0415

    PortableEncoder(name).export(output)
    size = sum(file.stat().st_size for file in output.iterdir())
    click.echo(f"Wrote {output} ({size / 1e6:.1f} MB)")
