"""Systems by name, and the folders of their trainings."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.records import Topic
from mathamr_kedro.systems import Collection, Rankings, read_system, registry
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
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "LEARNING", {"toy": "x:Toy"})
    module = type("module", (), {"Toy": Toy})
    monkeypatch.setattr(registry, "import_module", lambda name: module)
    monkeypatch.setattr(Toy, "steps", [])


def test_an_unknown_system_is_told_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"No system is named 'tox'.*'toy'"):
        read_system("tox", {})
    with pytest.raises(ConfigurationError, match=r"systems\.toy\.modl"):
        read_system("toy", {"modl": {}})


def test_a_training_is_prepared_trained_and_indexed_once(tmp_path: Path) -> None:
    sources = Collection(checksums={"formulas": "d1"})

    def create(seed: int = 1, **values: Any) -> SystemFolder:
        return SystemFolder.create(tmp_path, "toy", values, seed, sources)

    found = create()
    assert found.counts == {"formulas": 0}
    with pytest.raises(MissingInputError, match="stage 'training'"):
        found.index(sources)
    assert main([str(found.folder)]) == 0
    assert found.train() == [{"epoch": 1, "loss": 0.5, "seconds": 0.1}]
    counts = found.index(sources)
    assert (counts["bytes"], counts["rankers"]) == (3, {"1": ["toy"]})
    again = create()
    assert (again.folder, again.train()) == (found.folder, found.train())
    topic = Topic("A.1", "task1", 0, "", (), "", (), None, None, None, None, None)
    (hits,) = again.open(sources)[1]["toy"]([topic], 5)
    assert hits.ids == ["1 3"]
    assert Toy.steps == ["prepare", "train", "index"]


def test_what_decides_the_weights_has_a_folder_of_its_own(tmp_path: Path) -> None:
    sources = Collection(checksums={"formulas": "d1", "topics": "t1"})

    def create(seed: int, values: Any, data: str = "d1") -> SystemFolder:
        given = Collection(checksums={"formulas": data})
        return SystemFolder.create(tmp_path, "toy", values, seed, given)

    first = create(1, {})
    others = [create(2, {}), create(1, {"model": {"width": 4}}), create(1, {}, "d2")]
    assert len({f.folder for f in (first, *others)}) == 4
    first.train()
    first.index(sources)
    deeper = create(1, {"search": {"depth": 9}})
    assert deeper.folder == first.folder
    deeper.index(sources)
    assert len(list((first.folder / "indexes").iterdir())) == 2
    assert json.loads((first.folder / "system.json").read_text())["parameters"] == {
        "search": {"depth": 9}
    }


def test_a_folder_that_was_not_prepared_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"Expected system\.json"):
        SystemFolder(tmp_path)
    assert main([str(tmp_path)]) == 1
