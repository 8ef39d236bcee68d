"""Options that the commands share."""

from __future__ import annotations

import sys
from typing import Any

import click
from click.shell_completion import CompletionItem


class _EnvironmentName(click.ParamType):
    """The name of an environment, or of several stacked with ``+``; shells complete it.

    Names are checked where the configuration is read, with the nearest one as a hint.
    """

    name = "text"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the environments of ``conf/`` that begin like this."""
        # Loaded here: other commands do not need the configuration for their options.
        from mathamr_kedro.base.errors import MathAMRError  # noqa: PLC0415
        from mathamr_kedro.environments import complete_environment  # noqa: PLC0415
        from mathamr_kedro.project import find_project  # noqa: PLC0415

        try:
            names = complete_environment(find_project() / "conf", incomplete)
        except MathAMRError:  # outside of a project
            return []
        return [CompletionItem(name) for name in names]


ENVIRONMENT = _EnvironmentName()


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Note what was given, so that messages name commands with the same options."""
    given = ctx.find_object(dict)
    if given is not None and value is not None:
        given[param.name] = value
    return value


class _Query(click.ParamType):
    """Words or LaTeX; a dash reads them from the standard input."""

    name = "text"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the text."""
        if value != "-":
            return str(value)
        return sys.stdin.read().strip()


QUERY = _Query()
ENV = click.option(
    "--env",
    type=ENVIRONMENT,
    callback=_remember,
    help="Environment of conf/ (default: the embedded sample).",
)
DATA_ROOT = click.option(
    "--data-root",
    callback=_remember,
    help="Another folder for what the stages wrote.",
)
