"""``mathamr corpora``: public corpora, their licences, and how to index them."""

from __future__ import annotations

from typing import NamedTuple

import click

from mathamr_kedro.base.errors import MissingInputError, suggest


class _Corpus(NamedTuple):
    name: str
    what: str
    licence: str
    fetch: str
    read: str
    """What was read of it."""

    @property
    def commands(self) -> str:
        """What fetches it and indexes it, in a data root of its own."""
        place = f"--env own --data-root data/{self.name}"
        return "\n".join(
            (
                self.fetch,
                f"mathamr index sync corpora/{self.name} {place}",
                f"mathamr serve {place}",
            )
        )


def _clone(name: str, address: str) -> str:
    return f"git clone --depth 1 https://github.com/{address} corpora/{name}"


CORPORA = (
    _Corpus(
        "stacks",
        "The Stacks project: algebraic geometry, 16,859 statements with their proofs",
        "GFDL 1.2",
        _clone("stacks", "stacks/stacks-project"),
        "read whole: 20,116 documents",
    ),
    _Corpus(
        "napkin",
        "An Infinitely Large Napkin: higher mathematics for beginners, a book",
        "text CC BY-SA 4.0, source GPL-3.0",
        _clone("napkin", "vEnhance/napkin"),
        "read whole: 3,300 documents",
    ),
    _Corpus(
        "openlogic",
        "The Open Logic Text: logic, computability, sets",
        "CC BY 4.0",
        _clone("openlogic", "OpenLogicProject/OpenLogic"),
        "read whole: 2,200 documents",
    ),
    _Corpus(
        "mathlib",
        "mathlib4: declarations of Lean with their docstrings",
        "Apache-2.0",
        _clone("mathlib", "leanprover-community/mathlib4"),
        "five folders of it: 284 files, 10,104 declarations; all of it takes hours",
    ),
)


@click.command(name="corpora")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    r"""List public corpora with their licences; or the commands that index NAME.

    \b
      mathamr corpora
      mathamr corpora stacks
    """
    known = {corpus.name: corpus for corpus in CORPORA}
    if name is None:
        for corpus in CORPORA:
            click.echo(f"{corpus.name:<10} {corpus.what}")
            click.echo(f"{'':<10} licence: {corpus.licence}; {corpus.read}")
        click.echo("\nCommands that fetch and index one: `mathamr corpora NAME`")
        return
    if name not in known:
        raise MissingInputError(
            f"No corpus is named {name!r}{suggest(name, known)} Known: "
            f"{', '.join(known)}; any folder of files: `mathamr index sync FOLDER`"
        )
    click.echo(known[name].commands)
