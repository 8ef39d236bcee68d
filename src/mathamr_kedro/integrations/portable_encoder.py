r"""A released encoder by itself: texts in, vectors out, without Kedro and pickle.

::

    encoder = PortableEncoder("mathamr_plus")           # or a folder
    vectors = encoder.encode([r"Is $\sqrt2$ rational?"])  # of each text: (parts, 128)
    encoder.export(Path("mathamr_plus"))                # weights.safetensors, card, ...

Texts take the path of typed queries: built-in AMR parser, trees from LaTeX, fusion.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.amr import ParseTexts
from mathamr_kedro.base.checksums import write_checksums
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.files import replace_folder
from mathamr_kedro.graph import RecordArrays, ReleasedEncoder, StoredTrees
from mathamr_kedro.model import ComputeConfig, load_model, save_model
from mathamr_kedro.model.weights import SAFE_WEIGHTS
from mathamr_kedro.systems.mathamr_plus import QueryEncoder
from mathamr_kedro.vectors.post_vectors import PostEntry

_CARD = "README.md"
_BESIDE = ("types.json", "relations.json", "graph.json", _CARD)
"""Files of a released encoder that are copied as they are."""


class PortableEncoder:
    """Encodes texts with formulas between dollars.

    Args:
        name: a released encoder, by name or folder, or a folder of :meth:`export`.
        device: of torch, or ``auto``.

    Raises:
        MissingInputError: there is no such encoder.
    """

    def __init__(self, name: str | Path = "mathamr_plus", device: str = "cpu") -> None:
        self.released = ReleasedEncoder(str(name))
        self.model = load_model(self.released.folder, ComputeConfig(device=device))
        arrays = RecordArrays(self.released, StoredTrees(None))
        self._encoder = QueryEncoder(ParseTexts(), arrays, self.model)

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return self.model.config.projection_dim

    def encode(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return the vectors of each text, of length 1, one row for each of its parts.

        Parts are formulas, sentences, and at last the whole. MaxSim compares two texts:
        ``(a @ b.T).max(axis=1).mean()``.

        Raises:
            MalformedInputError: a text has neither a word nor a formula.
        """
        return [entry.vectors for entry in self._read(texts)]

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector for each text, that of its document node.

        Raises:
            ConfigurationError: the encoder's graphs have no document nodes.
        """
        found = [entry.document() for entry in self._read(texts)]
        vectors = [vector for vector in found if vector is not None]
        if len(vectors) < len(found):
            raise ConfigurationError(
                f"Expected an encoder with document nodes (got {self.released.name!r})"
            )
        shape = (len(vectors), self.width)
        return np.asarray(vectors, dtype=np.float32).reshape(shape)

    def export(self, folder: Path) -> None:
        """Write a folder with ``weights.safetensors`` atomically.

        Raises:
            ConfigurationError: there is a folder that is no earlier export.
        """
        if folder.exists() and not (folder / SAFE_WEIGHTS).is_file():
            raise ConfigurationError(
                f"Expected a new folder, or one of an earlier export (there is no "
                f"{SAFE_WEIGHTS} in {str(folder)!r}); name another one"
            )
        with replace_folder(folder) as part:
            save_model(part, self.model, half=True, safe=True)
            for name in _BESIDE:
                if (self.released.folder / name).is_file():
                    shutil.copyfile(self.released.folder / name, part / name)
            write_checksums(part, skip=(_CARD,))

    def _read(self, texts: Sequence[str]) -> list[PostEntry]:
        if isinstance(texts, str):
            raise ConfigurationError(
                f"Expected a list of texts (got one text, {texts[:40]!r})"
            )
        found = [self._encoder.read_text(text).entry for text in texts]
        return [entry for entry in found if entry is not None]
