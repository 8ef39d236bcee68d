"""Shared options of commands."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Remember an option, so that messages name commands with the same options."""
    given = ctx.find_object(dict)
    if given is not None and value is not None:
        given[param.name] = value
    return value


def read_input(text: str) -> str:
    """Return words or LaTeX; a dash reads them from the standard input."""
    return sys.stdin.read().strip() if text == "-" else text


_ENVIRONMENT = (
    click.option(
        "--env",
        callback=_remember,
        help="Environment of conf/ (default: the embedded sample).",
    ),
    click.option(
        "--data-root",
        callback=_remember,
        help="Another folder for what the stages wrote.",
    ),
)


SYSTEM = click.option(
    "--system",
    metavar="NAME",
    help="How posts or formulas are found: a strategy, baseline or fusion of the "
    "evaluation, e.g. maxsim-exact, bm25, or bm25_slt for formulas (default: "
    "indexing.search.system and formula_system).",
)
WITH = click.option(
    "--with",
    "fuse_with",
    metavar="NAME",
    multiple=True,
    help="Average the scores with those of this system, e.g. bm25; may be repeated.",
)


def in_environment(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name an environment and its data root."""
    for option in reversed(_ENVIRONMENT):
        command = option(command)
    return command
