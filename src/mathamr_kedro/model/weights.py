"""Saving and loading a model: weights beside the configuration that shapes them.

::

    folder/
      model.json    version, model configuration, graph schema
      weights.pt    state dict, loaded with ``weights_only``
      seals.json    size and checksum of both

Weights of a released encoder are stored in half precision and computed with in float32.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import asdict
from pathlib import Path

import torch

from mathamr_kedro.base.checksums import check_folder, replace_checked_file
from mathamr_kedro.base.errors import (
    DamagedFileError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.graph import GraphSchema
from mathamr_kedro.model.config import ComputeConfig, ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus

VERSION = 1
CONFIG = "model.json"
WEIGHTS = "weights.pt"


def save_model(folder: Path, model: MathAMRPlus, half: bool = False) -> None:
    """Write a model to a folder; each file is replaced atomically.

    Args:
        folder: gets the two files.
        model: what to write.
        half: store float16: half the bytes, vectors equal to about three digits.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    values = {
        "version": VERSION,
        "model": asdict(model.config),
        "schema": asdict(model.schema),
    }
    text = json.dumps(values, indent=2) + "\n"
    state = {name: value.cpu() for name, value in model.state_dict().items()}
    if half:
        state = {n: v.half() if v.is_floating_point() else v for n, v in state.items()}
    with replace_checked_file(folder / WEIGHTS) as part, part.open("wb") as file:
        torch.save(state, file)  # a path would leave its name in the bytes
    with replace_checked_file(folder / CONFIG) as part:
        part.write_text(text, encoding="utf-8")


def load_model(folder: Path, compute: ComputeConfig | None = None) -> MathAMRPlus:
    """Read a model from a folder to the device that ``compute`` asks for.

    Raises:
        MissingInputError: there is none.
        DamagedFileError: its files differ from what was written.
    """
    folder, compute = Path(folder), compute or ComputeConfig()
    config, schema = read_shape(folder)
    check_folder(folder, _name_remedy(folder), whole=True)
    model = MathAMRPlus(config, schema).to(compute.choose_device())
    model.load_state_dict(read_state(folder / WEIGHTS))  # halves: to float32
    return model.set_compute(compute).eval()


def read_shape(folder: Path) -> tuple[ModelConfig, GraphSchema]:
    """Read the configuration and schema of a model, without its weights."""
    path = Path(folder) / CONFIG
    if not path.is_file():
        raise MissingInputError(
            f"Expected a model in {str(folder)!r} (no {CONFIG} there); "
            "run the training stage first"
        )
    values = json.loads(path.read_text())
    if values.get("version") != VERSION:
        raise MalformedInputError(
            f"Expected a model of version {VERSION} in {str(folder)!r} "
            f"(got {values.get('version')!r})"
        )
    shape = dict(values["model"])
    if (former := shape.pop("virtual_aggregation", "mean")) != "mean":
        raise MalformedInputError(
            f"Expected a model whose virtual nodes take the mean of their members in "
            f"{str(folder)!r} (got virtual_aggregation {former!r}, which earlier "
            "versions had); train it again"
        )
    config = read_parameters(ModelConfig, shape, where="model")
    schema = read_parameters(GraphSchema, values["schema"], where="schema")
    return config, schema


def copy_model(source: Path, folder: Path) -> None:
    """Copy the files of a model; each is replaced atomically, ``model.json`` last."""
    folder.mkdir(parents=True, exist_ok=True)
    check_folder(source, _name_remedy(source), whole=True)
    for file in reversed(find_model_files(source)):
        with replace_checked_file(folder / file.name) as part:
            shutil.copyfile(file, part)


def checksum_model(folder: Path) -> str:
    """Digest of the weights of a model folder."""
    content = (Path(folder) / WEIGHTS).read_bytes()
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def find_model_files(folder: Path) -> tuple[Path, Path]:
    """Return the files of an encoder: its configuration and its weights."""
    files = folder / CONFIG, folder / WEIGHTS
    for file in files:
        if not file.is_file():
            raise DamagedFileError(
                f"Expected {str(file)!r} (there is none); {_name_remedy(folder)}"
            )
    return files


def read_state(file: Path) -> dict[str, torch.Tensor]:
    """Return the weights of a file; code in it is not run."""
    state: dict[str, torch.Tensor] = torch.load(
        file, map_location="cpu", weights_only=True
    )
    return state


def _name_remedy(folder: Path) -> str:
    return (
        f"delete {str(folder.parent)!r} and run the stage 'training' again, or install "
        "a released encoder again"
    )
