"""Kedro's own commands, where this project has more to say.

====================  ==========================================================
``kedro run``         a wrong name is one line with the nearest one; ``--env`` completes
                      names; a stage ends before the next begins
``kedro jupyter``     says what to install where Jupyter is missing
====================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from copy import copy
from functools import partial, wraps
from importlib.util import find_spec
from typing import Any

import click
from kedro.framework.cli.jupyter import jupyter
from kedro.framework.cli.project import run
from kedro.framework.project import pipelines
from kedro.pipeline import Pipeline

from mathamr_kedro.base.errors import suggest
from mathamr_kedro.cli._options import ENVIRONMENT
from mathamr_kedro.stages import STAGES

_EVERYTHING = "__default__"
_RUNNER = "mathamr_kedro.runner.StageRunner"
_PACKAGES = {
    "lab": ("jupyterlab", "JupyterLab", 'pip install -e ".[notebooks]"'),
    "notebook": ("notebook", "Jupyter Notebook", "pip install notebook"),
}


def _adapt_group(group: click.Group) -> click.Group:
    adapted = copy(group)
    adapted.commands = {
        name: _adapt(command, partial(_require_package, name))
        for name, command in group.commands.items()
    }
    return adapted


def _adapt(command: click.Command, check: Callable[..., None]) -> click.Command:
    """Return the command with a check before it, names to complete, and our runner."""
    adapted, original = copy(command), command.callback
    assert original is not None

    @wraps(original)
    def checked(*arguments: Any, **options: Any) -> Any:
        check(**options)
        return original(*arguments, **options)

    adapted.callback = checked
    adapted.params = [_change(param) for param in command.params]
    return adapted


def _change(param: click.Parameter) -> click.Parameter:
    changed = copy(param)
    if param.name == "env":
        changed.type = ENVIRONMENT
    if param.name == "runner":
        changed.default = _RUNNER
    return changed


def _require_package(command: str, **options: Any) -> None:
    module, title, install = _PACKAGES.get(command, ("", "", ""))
    if module and find_spec(module) is None:
        raise click.ClickException(
            f"{title} is not installed here; run `{install}`, then `kedro jupyter "
            f"{command}` again (any other Jupyter opens notebooks/ as well)"
        )


def _check_names(
    pipeline: str | None = None, pipelines: Iterable[str] = (), **options: Any
) -> None:
    """Refuse names that nothing bears, before anything is loaded or run."""
    names = [pipeline] if pipeline else list(pipelines)
    _check("pipeline", names, [*STAGES, _EVERYTHING])
    given = {kind: list(options.get(kind) or ()) for kind in _KINDS}
    if not any(given.values()):
        return
    chosen = _join(names or [_EVERYTHING])
    for option, values in given.items():
        kind, list_names = _KINDS[option]
        _check(kind, values, list_names(chosen))


def _join(names: Iterable[str]) -> Pipeline:
    return sum((pipelines[name] for name in names), start=Pipeline([]))


def _list_nodes(chosen: Pipeline) -> set[str]:
    return {node.name for node in chosen.nodes}


def _list_namespaces(chosen: Pipeline) -> set[str]:
    return {node.namespace for node in chosen.nodes if node.namespace}


def _list_tags(chosen: Pipeline) -> set[str]:
    return {tag for node in chosen.nodes for tag in node.tags}


_KINDS: dict[str, tuple[str, Callable[[Pipeline], set[str]]]] = {
    "node_names": ("node", _list_nodes),
    "from_nodes": ("node", _list_nodes),
    "to_nodes": ("node", _list_nodes),
    "from_inputs": ("dataset", Pipeline.datasets),
    "to_outputs": ("dataset", Pipeline.datasets),
    "namespaces": ("namespace", _list_namespaces),
    "tags": ("tag", _list_tags),
}
"""Options of ``kedro run`` to what they name, and which names there are."""


def _check(kind: str, values: Iterable[str], known: Collection[str]) -> None:
    for value in values:
        if value not in known:
            hint = suggest(value, known)
            others = hint or f". Known: {', '.join(sorted(known))}"
            raise click.ClickException(f"No {kind} is named {value!r}{others}")


COMMANDS: dict[str, click.Command] = {
    "run": _adapt(run, _check_names),
    "jupyter": _adapt_group(jupyter),
}
