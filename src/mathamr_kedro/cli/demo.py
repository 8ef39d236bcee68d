"""``mathamr demo``: the embedded sample, from an empty folder to a first answer."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import click

import mathamr_kedro
from mathamr_kedro.base.errors import MissingInputError, WorkerError
from mathamr_kedro.base.files import replace_folder

_STARTER = Path(mathamr_kedro.__file__).parent / "starter"
_QUESTION = r"is $\sqrt p$ irrational for a prime $p$?"
_STEPS = (
    ("kedro", "run", "--env", "demo"),
    ("mathamr_kedro", "show", "summary", "--env", "demo"),
    ("mathamr_kedro", "search", _QUESTION, "--env", "demo", "--top", "3"),
)


@click.command(name="demo")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default="mathamr-demo",
    show_default=True,
    help="Folder of the project; an existing one is reused.",
)
def command(folder: Path) -> None:
    r"""Make a project with the embedded sample, run all stages, ask a first question.

    It takes minutes and needs no network. The folder is a Kedro project like any other:
    its conf/ is yours to change.

    \b
      mathamr demo --folder mine
    """
    if not (folder / "pyproject.toml").is_file():
        _lay_out(folder)
    for module, *arguments in _STEPS:
        line = [sys.executable, "-m", module, *arguments]
        done = subprocess.run(line, cwd=folder, check=False)
        if done.returncode:
            raise WorkerError(
                f"`{module} {arguments[0]}` failed with the exit status "
                f"{done.returncode} in {str(folder)!r}; follow what it says above, and "
                "run the same command again: it resumes"
            )
    click.echo(f"Next: cd {folder} && mathamr serve --env demo")


def _lay_out(folder: Path) -> None:
    """Copy the files of the package; the folder is written atomically."""
    if not _STARTER.is_dir():
        raise MissingInputError(
            "This is a checkout, not an installed package; run `make demo` in it"
        )
    with replace_folder(folder) as part:
        shutil.copytree(_STARTER, part, dirs_exist_ok=True)
        for name in ("src", "conf/local"):
            (part / name).mkdir(exist_ok=True)
