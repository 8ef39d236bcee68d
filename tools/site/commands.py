"""The page of commands, written from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

import click

from mathamr_kedro.cli import group

_HEAD = """# Commands

The stages are run by `kedro run`. `mathamr --help` lists the commands below, and
`mathamr COMMAND --help` prints the same. Shells complete them after
`eval "$(_MATHAMR_COMPLETE=bash_source mathamr)"` (or `zsh_source`, `fish_source`).
"""


def describe_commands(root: click.Command = group, name: str = "mathamr") -> str:
    """Return the page: usage, help and options of every command."""
    parts = [_HEAD]
    for path, command, context in _walk(root, (name,), None):
        if len(path) > 1:
            parts.append("\n".join(_describe(path, command, context)))
    return "\n".join(parts)


def _walk(
    command: click.Command, path: tuple[str, ...], parent: click.Context | None
) -> Iterator[tuple[tuple[str, ...], click.Command, click.Context]]:
    context = click.Context(command, parent=parent, info_name=path[-1])
    yield path, command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                yield from _walk(found, (*path, name), context)


def _describe(
    path: tuple[str, ...], command: click.Command, context: click.Context
) -> Iterator[str]:
    yield f"{'#' * len(path)} {' '.join(path)}\n"
    usage = " ".join([" ".join(path), *command.collect_usage_pieces(context)])
    yield f"```text\n{usage}\n```\n"
    yield _write_help(command.help or "")
    options = [p for p in command.get_params(context) if isinstance(p, click.Option)]
    rows = [_write_row(option, context) for option in options if not option.hidden]
    if rows:
        yield "\n| option | meaning |\n|---|---|"
        yield from rows
    yield ""


def _write_help(text: str) -> str:
    r"""Return a help text; what is below a ``\b`` is an example."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text.replace(r"\b", "\b").strip()):
        head, mark, example = paragraph.partition("\b")
        parts.append(_escape(" ".join(head.split())))
        if mark:
            lines = [line.strip() for line in example.strip("\n").splitlines()]
            parts.append("```bash\n" + "\n".join(lines) + "\n```")
    return "\n\n".join(part for part in parts if part)


def _write_row(option: click.Option, context: click.Context) -> str:
    record = option.get_help_record(context)
    names, meaning = record if record else (", ".join(option.opts), option.help or "")
    return f"| `{names.replace('|', chr(92) + '|')}` | {_escape(meaning)} |"


def _escape(text: str) -> str:
    """Keep Markdown away from what is meant literally, except code between ticks."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(p if p[:1] == "`" else _escape_words(p) for p in pieces)


def _escape_words(text: str) -> str:
    return re.sub(r"([\\*_|\[\]$])", r"\\\1", escape(text, quote=False))
