"""Domain packages import without Kedro; the GPU side needs torch and numpy alone."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

import mathamr_kedro

DOMAIN = {
    "amr", "corpus", "sample", "formula", "experiments",
    "graph", "learning", "metrics", "model", "search",
    "stats", "trec", "errors", "parameters", "records", "shards", "types",
}  # fmt: skip
BARE_GPU = {"learning", "model"}
PRESENT = {m.name for m in pkgutil.iter_modules(mathamr_kedro.__path__)}


def _import_without(package: str, *missing: str) -> subprocess.CompletedProcess[str]:
    hide = "".join(f"sys.modules[{name!r}] = None; " for name in missing)
    code = f"import sys; {hide}import mathamr_kedro.{package}"
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.mark.parametrize("package", sorted(DOMAIN & PRESENT))
def test_domain_package_imports_without_kedro(package):
    run = _import_without(package, "kedro", "kedro_datasets", "kedro_viz")
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("package", sorted(BARE_GPU & PRESENT))
def test_encoder_imports_on_a_bare_gpu_machine(package):
    absent = "kedro kedro_datasets pandas pyarrow penman spacy scipy rich click lxml"
    run = _import_without(package, *absent.split())
    assert run.returncode == 0, run.stderr
