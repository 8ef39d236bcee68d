"""Systems by name, and the folders of their trainings."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.records import Topic
from mathamr_kedro.systems import (
    LEARNING,
    Collection,
    Rankings,
    learns,
    read_system,
)
from mathamr_kedro.systems.__main__ import main
from mathamr_kedro.systems.base import LearningSystem
from tests.systems.trained import SystemFolder


@dataclass(frozen=True)
class ModelPart:
    width: int = 3


@dataclass(frozen=True)
class SearchPart:
    depth: int = 5


@dataclass(frozen=True)
class ToyConfig:
    model: ModelPart = field(default_factory=ModelPart)
    search: SearchPart = field(default_factory=SearchPart)


class Toy(LearningSystem):
    """Counts how often each step is taken."""

    Config: ClassVar[type] = ToyConfig
    training_reads: ClassVar[tuple[str, ...]] = ("formulas",)
    name = "toy"
    finds = frozenset({"posts"})
    index_reads = ("formulas",)
    steps: ClassVar[list[str]] = []

    def __init__(self, config: ToyConfig) -> None:
        self.config = config

    def prepare(self, sources: Collection, folder: Path) -> dict[str, Any]:
        self.steps.append("prepare")
        (folder / "a.txt").write_text("a")
        return {"formulas": len(list(sources.formulas()))}

    def train(self, prepared: Path, folder: Path, seed: int) -> list[dict[str, Any]]:
        self.steps.append("train")
        assert (prepared / "a.txt").is_file()
        (folder / "weights").write_text(f"{seed} {self.config.model.width}")
        return [{"epoch": 1, "loss": 0.5, "seconds": 0.1}]

    def index(self, sources: Collection, model: Path, folder: Path) -> dict[str, Any]:
        self.steps.append("index")
        (folder / "index").write_text((model / "weights").read_text())
        return {"bytes": 3}

    def open(self, sources: Collection, model: Path, folder: Path) -> Any:
        name = (folder / "index").read_text()
        ranker = lambda queries, depth: [Hits([name], np.ones(1))]  # noqa: E731
        return Rankings({"posts": {"toy": ranker}})


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Toy, "steps", [])


VALUES = {"class": f"{__name__}:Toy"}


def create(base: Path, seed: int = 1, data: str = "d1", **values: Any) -> SystemFolder:
    read = Collection(checksums={"formulas": data})
    return SystemFolder.create(base, "toy", {**VALUES, **values}, seed, read)


def test_an_unknown_system_is_told_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"No system is named 'ssem'.*'ssemb'"):
        read_system("ssem", {})
    with pytest.raises(ConfigurationError, match=r"systems\.toy\.modl"):
        read_system("toy", {**VALUES, "modl": {}})


def test_all_systems_of_papers_learn_and_baselines_do_not() -> None:
    assert all(learns(read_system(name, {})) for name in LEARNING)
    assert not learns(read_system("bm25", {}))


def test_a_training_is_prepared_trained_and_indexed_once(tmp_path: Path) -> None:
    sources = Collection(checksums={"formulas": "d1"})
    found = create(tmp_path)
    assert found.counts == {"formulas": 0}
    with pytest.raises(MissingInputError, match="stage 'training'"):
        found.index(sources)
    assert main(found.arguments) == 0
    assert found.train() == [{"epoch": 1, "loss": 0.5, "seconds": 0.1}]
    counts = found.index(sources)
    assert (counts["bytes"], counts["rankers"]) == (3, {"1": ["toy"]})
    again = create(tmp_path)
    assert (again.folder, again.train()) == (found.folder, found.train())
    topic = Topic("A.1", "task1", 0, "", (), "", (), None, None, None, None, None)
    (hits,) = again.open(sources)[1]["toy"]([topic], 5)
    assert hits.ids == ["1 3"]
    assert Toy.steps == ["prepare", "train", "index"]


def test_what_decides_the_weights_has_a_folder_of_its_own(tmp_path: Path) -> None:
    sources = Collection(checksums={"formulas": "d1", "topics": "t1"})
    first = create(tmp_path)
    wider = create(tmp_path, model={"width": 4})
    others = [create(tmp_path, seed=2), wider, create(tmp_path, data="d2")]
    assert len({f.folder for f in (first, *others)}) == 4
    assert others[0].prepared == first.prepared  # another seed reads the same
    first.train()
    first.index(sources)
    deeper = create(tmp_path, search={"depth": 9})
    assert deeper.folder == first.folder
    deeper.index(sources)
    assert len(list((first.folder / "indexes").iterdir())) == 2
    assert json.loads((first.folder / "system.json").read_text())["parameters"] == {
        **VALUES, "search": {"depth": 9}
    }  # fmt: skip


def test_what_was_half_prepared_is_prepared_again(tmp_path: Path) -> None:
    prepared = create(tmp_path).prepared
    (prepared / "prepared.json").unlink()
    (prepared / "half").touch()
    assert create(tmp_path).prepared == prepared
    assert {file.name for file in prepared.iterdir()} == {"a.txt", "prepared.json"}
    assert Toy.steps == ["prepare", "prepare"]


def test_a_training_is_copied_to_where_a_run_finds_it(tmp_path: Path) -> None:
    """Trained on another machine, from a copy of what was prepared."""
    here = create(tmp_path / "here")
    there = tmp_path / "there" / "data"
    shutil.copytree(here.prepared, there / here.prepared.name)
    out = tmp_path / "there" / "trained"
    assert main([str(there / here.prepared.name), "--out", str(out)]) == 0
    shutil.copytree(out / here.folder.name, here.folder, dirs_exist_ok=True)
    assert len(create(tmp_path / "here").train()) == 1
    assert Toy.steps == ["prepare", "train"]


def test_a_folder_that_was_not_prepared_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"Expected system\.json"):
        SystemFolder(tmp_path)
    assert main([str(tmp_path)]) == 1
