"""Every command for a table of MaRF and MathAMR, on a small download, tiny encoders."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner
from kedro.framework.cli.cli import KedroCLI

from mathamr_kedro.cli import group
from tests.conftest import copy_project
from tests.official_collection import write_collection
from tests.systems.mathamr.world import make_text_model
from tests.test_thesis_tables import TINY

pytestmark = pytest.mark.slow

PHASE = "{epochs: 1, batch_size: 4}"
PUBLISHED = "published, whole collection"


class Checkout:
    """A project over the download, in which commands run."""

    def __init__(self, folder: Path, data: Path) -> None:
        copy_project(folder)
        text_model = make_text_model(data / "text_model")
        self.folder, self.root = folder, data / "root"
        phases = ("pretraining", "context_training", "formula_training",
                  "fusion_training")  # fmt: skip
        marf = {"context": text_model, "max_tokens": 32, "layers": 1, "heads": 2,
                "width": 8, **dict.fromkeys(phases, PHASE)}  # fmt: skip
        amr = {"text_model": text_model, "epochs": 1, "folds": 2, "max_length": 32}
        sizes = {**TINY, "indexing.engine.engine": "exact"}
        sizes |= {f"systems.marf.model.{key}": value for key, value in marf.items()}
        sizes |= {f"systems.mathamr.model.{key}": v for key, v in amr.items()}
        self.sizes = sizes

    def kedro(self, env: str) -> Path:
        params = self._write({**self.sizes, "data_root": self.root})
        with chdir(self.folder):
            arguments = ["run", "--env", env, "--params", params]
            KedroCLI(self.folder).main(arguments, standalone_mode=False)
        return self.root / "08_reporting/significance/systems"

    def mathamr(self, *arguments: str) -> str:
        given = [*arguments, "--env", "arqmath", "--data-root", str(self.root)]
        with chdir(self.folder):
            result = CliRunner().invoke(group, given, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    def experiment(self, name: str, system: str, **changes: object) -> Path:
        own = {k: v for k, v in self.sizes.items()
               if not k.startswith("systems.") or f".{system}." in k}  # fmt: skip
        own |= {"experiment.seeds": "[42]", **changes}
        for key in ("representation", "scoring", "selection"):
            own.pop(f"systems.{system}.model.{key}", None)
        params = self._write(own)
        self.mathamr("experiments", "run", name, "--workers", "0", "--params", params)
        return self.root / "08_reporting/significance" / name

    @staticmethod
    def _write(sizes: dict[str, object]) -> str:
        flat: dict[str, object] = {}
        for key, value in sizes.items():
            if value == PHASE:  # a comma would end the parameter
                flat |= {f"{key}.epochs": 1, f"{key}.batch_size": 4}
            else:
                flat[key] = value
        return ",".join(f"{key}={value}" for key, value in flat.items())


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Iterator[Checkout]:
    download = tmp_path_factory.mktemp("download")
    write_collection(download)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MATHAMR_ARQMATH", str(download))
        yield Checkout(tmp_path_factory.mktemp("co"), tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def evaluated(checkout) -> Path:
    return checkout.kedro("arqmath+marf+mathamr")


def read_ours(folder: Path, table: str) -> dict[str, list[str]]:
    """Rows of a table that were found here; published ones are beside them."""
    with (folder / f"csv/paper_{table}.csv").open(encoding="utf-8") as lines:
        _, *rows = csv.reader(lines)
    assert any(PUBLISHED in row for row in rows)
    found = {row[0]: row[2:] for row in rows if "here" in row}
    assert all(any(c.isdigit() for c in "".join(row)) for row in found.values())
    return found


@pytest.mark.parametrize(
    ("table", "ours"),
    [
        ("002.1", ["Fine-tuned BERT", "Formula Encoder",
                   "Fine-tuned BERT + Formula Encoder"]),
        ("002.2", ["DPRL / MathAMR", "Fine-tuned BERT", "Formula Encoder",
                   "Fine-tuned BERT + Formula Encoder"]),
        ("002.3", ["Fine-tuned BERT", "Fine-tuned BERT + Formula Encoder"]),
        ("002.4", ["Fine-tuned BERT", "Fine-tuned BERT + Formula Encoder"]),
        ("002.7", ["BERT Encoder", "BERT Encoder, pretraining", "Formula Encoder",
                   "Fusion Layer", "Search"]),
        ("004.2", ["BM25 of layout trees", "BM25 of operator trees", "BM25 of tuples",
                   "BM25 of LaTeX"]),
    ],
)  # fmt: skip
def test_an_evaluation_writes_the_tables_of_its_systems(evaluated, table, ours):
    assert list(read_ours(evaluated, table)) == ours


def test_first_results_of_both_are_shown_for_topics_of_both_tasks(evaluated):
    """Figures 2 to 5 of MaRF, and Appendix C of the thesis."""
    page = (evaluated / "examples.md").read_text(encoding="utf-8")
    page = page.split("## First results")[1]
    for topic in ("A.301", "B.301"):
        own = page.split(f"### Topic {topic}")[1].split("\n### ")[0]
        for system in ("mathamr_plus", "mathamr", "marf", "marf/context"):
            assert f"#### {system} (seed" in own, (topic, system)


@pytest.mark.parametrize(
    ("name", "system", "table", "rows"),
    [("marf_scoring", "marf", "002.5", 4), ("mathamr_contexts", "mathamr", "004.1", 5)],
)
def test_an_experiment_ends_with_its_table(checkout, name, system, table, rows):
    folder = checkout.experiment(name, system)
    assert len(read_ours(folder, table)) == rows


def test_an_encoder_is_compared_before_and_after_fine_tuning(checkout):
    folder = checkout.experiment("mathamr_tuning", "mathamr")
    page = (folder / "tables.md").read_text(encoding="utf-8")
    assert "| before" in page and "| after" in page
