"""The ``amrlib`` parser, as used by MathAMR: sentence by sentence, no coreference.

Package and weights are yours to install (https://amrlib.readthedocs.io): neither is a
dependency of this project, and no real parse by it was run in its tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.documents import AMRParser, ParserSettings
from mathamr_kedro.amr.graphs import AMRGraph, ParseFailure
from mathamr_kedro.amr.merging import merge_graphs
from mathamr_kedro.amr.penman_io import read_graph
from mathamr_kedro.amr.placeholder_nodes import restore_placeholders
from mathamr_kedro.base.errors import ConfigurationError, GraphError
from mathamr_kedro.base.workers import current_slot

_BEAM = 4
"""Beams of the search, as amrlib has it."""


@dataclass(frozen=True)
class AmrlibConfig(ParserSettings):
    """Parameters of ``parser: amrlib``."""

    name: ClassVar = "amrlib"

    model_dir: str | None = None
    """Folder of the weights; ``None``: where amrlib keeps ``model_stog``."""
    batch_size: int = 12
    """Sentences at a time."""
    devices: tuple[str, ...] = ("cpu",)
    """One per worker, e.g. ``[cuda:0, cuda:1]``."""

    def __post_init__(self) -> None:
        if not self.devices:
            raise ConfigurationError("Expected at least one of 'devices' (got none)")

    def describe(self) -> dict[str, Any]:
        """Return what the graphs depend on."""
        return {"parser": self.name, "model": self.model_dir, "beam": _BEAM}

    def open(self) -> AMRParser:
        """Return the parser, its model loaded."""
        return AmrlibParser(self)


class AmrlibParser:
    """A sentence-to-graph model of amrlib."""

    name = "amrlib"

    def __init__(self, config: AmrlibConfig) -> None:
        device = config.devices[current_slot() % len(config.devices)]
        try:
            # An optional package, imported only if this parser is used.
            import amrlib  # noqa: PLC0415

            self._model = amrlib.load_stog_model(
                model_dir=config.model_dir,
                device=device,
                batch_size=config.batch_size,
                num_beams=_BEAM,
            )
        except ImportError as exc:
            raise ConfigurationError(
                "Expected the package 'amrlib' for 'parser: amrlib'; run: "
                "pip install amrlib transformers, and install a model "
                "(https://amrlib.readthedocs.io)"
            ) from exc
        except (OSError, ValueError) as exc:
            raise ConfigurationError(
                f"amrlib found no model in {config.model_dir or 'its data folder'!r} "
                f"({exc}); set 'amr_parsing.amrlib.model_dir'"
            ) from exc

    def parse_chunks(self, chunks: Sequence[Chunk]) -> list[AMRGraph | ParseFailure]:
        """Parse a batch; a chunk keeps the sentences that could be parsed."""
        sentences = [sentence for chunk in chunks for sentence in chunk.sentences]
        texts = iter(self._model.parse_sents(sentences, add_metadata=False))
        return [
            _merge([next(texts) for _ in chunk.sentences], chunk) for chunk in chunks
        ]


def _merge(texts: Sequence[str | None], chunk: Chunk) -> AMRGraph | ParseFailure:
    graphs: list[AMRGraph] = []
    problems: list[str] = []
    for text, sentence in zip(texts, chunk.sentences, strict=True):
        try:
            if text is None:
                problems.append(f"no graph for {sentence[:80]!r}")
            else:
                graphs.append(restore_placeholders(read_graph(text)))
        except GraphError as exc:
            problems.append(str(exc))
    if not graphs:
        return ParseFailure("penman_error", "; ".join(problems)[:500])
    return graphs[0] if len(graphs) == 1 else merge_graphs(graphs)
