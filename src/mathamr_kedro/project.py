"""The project from outside Kedro's own commands: its catalog, in any environment."""

from __future__ import annotations

from pathlib import Path

from kedro.framework.context import KedroContext
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project
from kedro.io import CatalogProtocol
from kedro.utils import find_kedro_project

from mathamr_kedro.errors import ConfigurationError


def find_project() -> Path:
    """Return the folder of the project, found from the current folder."""
    root = find_kedro_project(Path.cwd())
    if root is None:
        raise ConfigurationError(
            f"No Kedro project in {str(Path.cwd())!r} or above; run mathamr inside the "
            "project folder (the one with pyproject.toml and conf/)"
        )
    return Path(root)


def open_context(env: str | None = None, data_root: str | None = None) -> KedroContext:
    """Return an environment of the project, found from the current folder.

    Args:
        env: an environment of ``conf/``; ``None`` for the default one.
        data_root: another folder for what the stages wrote.
    """
    root = find_project()
    bootstrap_project(root)
    settings = {"data_root": data_root} if data_root else None
    session = KedroSession.create(root, env=env, runtime_params=settings)
    return session.load_context()


def open_catalog(
    env: str | None = None, data_root: str | None = None
) -> CatalogProtocol:
    """Return the catalog of an environment; arguments as :func:`open_context`."""
    return open_context(env, data_root).catalog


def find_roots(context: KedroContext) -> list[Path]:
    """Return the folders below which a run writes, none below another."""
    settings = {**context.config_loader["globals"], **context.params}
    names = [
        settings[name] for name in ("data_root", "output_root") if name in settings
    ]
    paths = [(Path(context.project_path) / name).resolve() for name in names]
    data_root, *others = paths
    return [data_root, *(p for p in others if not p.is_relative_to(data_root))]


def list_versions(catalog: CatalogProtocol, name: str) -> list[str]:
    """Return the versions of a versioned dataset, the newest first.

    Each can be loaded with ``catalog.load(name, version=...)``.
    """
    file = Path(str(catalog[name]._describe()["filepath"]))
    return sorted((f.parent.name for f in file.glob(f"*/{file.name}")), reverse=True)
