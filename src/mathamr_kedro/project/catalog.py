"""The project from outside Kedro's own commands: its catalog, in any environment.

A session of Kedro imports every stage, and with them torch. Reading the
outputs needs neither: :func:`open_catalog` reads only ``conf/``.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kedro.config import MissingConfigException
from kedro.io import CatalogProtocol, DataCatalog, MemoryDataset
from kedro.utils import find_kedro_project

from mathamr_kedro.base.checksums import read_json
from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.project.hints import complete_commands
from mathamr_kedro.project.loader import EnvironmentLoader

if TYPE_CHECKING:
    from kedro.framework.context import KedroContext

_NOTE = Path("data") / "08_reporting" / "last_run.json"


def find_project() -> Path:
    """Return the folder of the project, found from the current folder."""
    root = find_kedro_project(Path.cwd())
    if root is None:
        raise ConfigurationError(
            f"No Kedro project in {str(Path.cwd())!r} or above; run mathamr inside the "
            "project folder (the one with pyproject.toml and conf/)"
        )
    return Path(root)


def open_catalog(
    env: str | None = None, data_root: str | None = None
) -> CatalogProtocol:
    """Return the catalog of an environment, found from the current folder.

    Args:
        env: an environment of ``conf/``; ``None`` for the default one.
        data_root: another folder for what the stages wrote.
    """
    root = find_project()
    loader = EnvironmentLoader(
        str(root / "conf"),
        env=env or os.environ.get("KEDRO_ENV"),
        runtime_params={"data_root": data_root} if data_root else {},
        **EnvironmentLoader.ARGUMENTS,
    )
    try:
        credentials = loader["credentials"]
    except MissingConfigException:
        credentials = {}
    entries = {name: _anchor(value, root) for name, value in loader["catalog"].items()}
    catalog = DataCatalog.from_config(entries, credentials)
    parameters = loader["parameters"]
    named = {f"params:{name}": values for name, values in parameters.items()}
    for name, values in {"parameters": parameters, **named}.items():
        # Asked how to copy them, Kedro imports pandas.
        catalog[name] = MemoryDataset(values, copy_mode="deepcopy")
    return catalog


@cache
def configure_kedro(root: Path) -> None:
    """Tell Kedro of the project; a second time it would rebuild all pipelines."""
    # Loaded here, so that opening only the catalog does not wait for a session.
    from kedro.framework.startup import bootstrap_project  # noqa: PLC0415

    bootstrap_project(root)


def open_context(env: str | None = None, data_root: str | None = None) -> KedroContext:
    """Return the context of a session; arguments as :func:`open_catalog`."""
    # Loaded here, so that opening only the catalog does not wait for a session.
    from kedro.framework.session import KedroSession  # noqa: PLC0415

    root = find_project()
    configure_kedro(root)
    settings = {"data_root": data_root} if data_root else None
    session = KedroSession.create(root, env=env, runtime_params=settings)
    return session.load_context()


def find_roots(context: KedroContext) -> list[Path]:
    """Return the folders below which a run writes, none below another."""
    settings = {**context.config_loader["globals"], **context.params}
    names = [
        settings[name] for name in ("data_root", "output_root") if name in settings
    ]
    paths = [(Path(context.project_path) / name).resolve() for name in names]
    data_root, *others = paths
    return [data_root, *(p for p in others if not p.is_relative_to(data_root))]


def note_environment(catalog: CatalogProtocol, env: str | None) -> None:
    """Note beside an index which environment made it."""
    write_text(_find_note(catalog), json.dumps({"env": env}) + "\n")


def read_environment(catalog: CatalogProtocol) -> dict[str, str | None]:
    """Return ``{"env": ...}`` of the run that made the index; empty: unknown."""
    file = _find_note(catalog)
    found: dict[str, str | None] = json.loads(file.read_text()) if file.exists() else {}
    return found


def _find_note(catalog: CatalogProtocol) -> Path:
    file = Path(str(catalog["mathamr_plus.index"]._describe()["filepath"]))
    return file.with_name("environment.json")


def list_versions(catalog: CatalogProtocol, name: str) -> list[str]:
    """Return the versions of a versioned dataset, the newest first.

    Each can be loaded with ``catalog.load(name, version=...)``.
    """
    file = Path(str(catalog[name]._describe()["filepath"]))
    return sorted((f.parent.name for f in file.glob(f"*/{file.name}")), reverse=True)


def read_report(catalog: CatalogProtocol, name: str) -> str:
    """Return a report in Markdown with its pictures inside, for notebooks."""
    file = Path(str(catalog[name]._describe()["filepath"]))

    def embed(found: re.Match[str]) -> str:
        picture = base64.b64encode((file.parent / found[2]).read_bytes()).decode()
        return f"![{found[1]}](data:image/png;base64,{picture})"

    text = file.read_text(encoding="utf-8")
    return re.sub(r"!\[([^\]]*)\]\(([^):]+\.png)\)", embed, text)


class LastRun(NamedTuple):
    """The environment that ``kedro run`` ran last in this project.

    ::

        catalog = LastRun.find().open("posts", "formula_trees")
    """

    env: str | None = None
    data_root: str | None = None

    @classmethod
    def find(cls) -> LastRun:
        """Read the note of the last run; ``KEDRO_ENV`` goes before it.

        Raises:
            MissingInputError: nothing was run here.
        """
        if chosen := os.environ.get("KEDRO_ENV"):
            return cls(chosen)
        file = find_project() / _NOTE
        if not file.is_file():
            raise MissingInputError(
                "Nothing was run here yet; run `make demo`, or `kedro run --env ENV` "
                "with an environment of conf/README.md, and then this again"
            )
        return cls(**read_json(file, "delete it and run again"))

    def write(self) -> None:
        """Note this as the last run."""
        root = Path(self.data_root).resolve() if self.data_root else None
        note = self._replace(data_root=str(root) if root else None)
        file = find_project() / _NOTE
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps(note._asdict()) + "\n")

    def open(self, *names: str) -> CatalogProtocol:
        """Return the catalog of the run.

        Args:
            names: datasets that have to be there.

        Raises:
            MissingInputError: one is not; the message names the command that makes it.
        """
        catalog = open_catalog(self.env, self.data_root)
        missing = [name for name in names if not catalog.exists(name)]
        if missing:
            stages = ",".join(_find_stages(missing))
            message = (
                f"{', '.join(map(repr, missing))} is missing; run "
                f"`kedro run --pipelines {stages}`, and then this again"
            )
            raise MissingInputError(complete_commands(message, *self))
        return catalog


def _anchor(entry: Any, root: Path) -> Any:
    """Let relative paths of a dataset start at the project, as Kedro does."""
    if not isinstance(entry, dict):
        return entry
    paths = {key: entry[key] for key in ("filepath", "path") if key in entry}
    local = {key: str(root / path) for key, path in paths.items() if "://" not in path}
    return {**entry, **local}


def _find_stages(datasets: Sequence[str]) -> list[str]:
    """Return the stages that make the datasets, in the order of the data."""
    # Loaded here: the stages import all that they need.
    from kedro.framework.project import pipelines  # noqa: PLC0415

    from mathamr_kedro.project.checks import STAGES  # noqa: PLC0415

    configure_kedro(find_project())
    makers = {s: pipelines[s].all_outputs() for s in STAGES if s in pipelines}
    return [stage for stage, made in makers.items() if made & {*datasets}]
