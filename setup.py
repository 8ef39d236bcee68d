"""Puts what a project needs beside the package into the wheel; see pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
PARTS = ("conf", "data/01_raw/sample")
KEDRO = """# A project of mathamr-kedro, made by `mathamr demo`.
[tool.kedro]
package_name = "mathamr_kedro"
project_name = "mathamr-kedro"
kedro_init_version = "1.7.0"
source_dir = "src"
"""


class BuildWithStarter(build_py):
    """Copies configuration and sample into the package, as ``starter/``."""

    def run(self) -> None:
        """Build the package, then the starter; a checkout itself needs none."""
        super().run()
        if self.editable_mode:
            return
        starter = Path(self.build_lib) / "mathamr_kedro" / "starter"
        shutil.rmtree(starter, ignore_errors=True)
        for part in PARTS:
            shutil.copytree(
                ROOT / part, starter / part, ignore=shutil.ignore_patterns("local")
            )
        (starter / "pyproject.toml").write_text(KEDRO, encoding="utf-8")


setup(cmdclass={"build_py": BuildWithStarter})
