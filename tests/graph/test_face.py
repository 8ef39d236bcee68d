"""The face of the package: every name is there, and costs only what it needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import mathamr_kedro.graph as face
from mathamr_kedro.graph import shards

TO_TRAIN = (
    "GraphShards", "DeviceShards", "GraphBatch", "BatchSize", "ShardWriter",
    "GraphArrays", "GraphSchema", "GraphVariant", "GraphFolder", "PreparedGraphs",
    "Vocabularies", "ReleasedEncoder", "join_prepared", "join_shards",
)  # fmt: skip


def load_without(names: tuple[str, ...], *absent: str) -> None:
    script = "".join(
        [
            "import sys\n",
            *(f"sys.modules[{name!r}] = None\n" for name in absent),
            "import mathamr_kedro.graph as face\n",
            *(f"face.{name}\n" for name in names),
        ]
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True)


@pytest.mark.parametrize("package", [face, shards])
def test_every_name_of_the_face_is_there(package) -> None:
    for name in package.__all__:
        assert getattr(package, name) is not None


@pytest.mark.parametrize("package", [face, shards])
def test_an_unknown_name_is_refused(package) -> None:
    with pytest.raises(AttributeError, match="no attribute 'MathGraphs'"):
        package.MathGraphs  # noqa: B018


def test_graphs_need_no_torch() -> None:
    names = (
        "MathGraph",
        "GraphRecord",
        "read_math_graph",
        "ShardWriter",
        "GraphFolder",
    )
    load_without(names, "torch", "torch_geometric", "matplotlib", "nltk")


@pytest.mark.slow
def test_training_needs_torch_and_numpy_alone() -> None:
    absent = "kedro pandas pyarrow penman spacy scipy rich click lxml matplotlib nltk"
    load_without(TO_TRAIN, *absent.split())
