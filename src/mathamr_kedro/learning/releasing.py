"""Release of an encoder: the model of a training with the vocabularies of its graphs.

::

    release_encoder(Path("encoders/mine"), Path("out/model"), PreparedGraphs(folder))

The folder can be used by name or path in ``preprocessing.vocabulary.source`` and
``training.start_from`` (see :mod:`mathamr_kedro.graph.released`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from mathamr_kedro.base.checksums import write_checksums
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.files import replace_folder
from mathamr_kedro.base.formatting import format_score, format_table
from mathamr_kedro.graph import (
    GraphVariant,
    PreparedGraphs,
    ReleasedEncoder,
)
from mathamr_kedro.learning.checkpoints import HISTORY, MODEL
from mathamr_kedro.learning.trainer import FACTS
from mathamr_kedro.model import (
    ComputeConfig,
    MathAMRPlus,
    load_model,
    read_shape,
    save_model,
)
from mathamr_kedro.model.weights import CONFIG

_MEASURES = 4
"""Number of measures on the card: nDCG', MAP', P'@10 and Bpref by default."""

CARD = "README.md"


def release_encoder(
    folder: Path,
    model_dir: Path,
    graphs: PreparedGraphs,
    provenance: Provenance | None = None,
    overwrite: bool = False,
) -> None:
    """Write the folder of a released encoder atomically.

    Args:
        folder: to write; its name becomes that of the encoder.
        model_dir: of a training, or the folder of the training itself. Files beside the
            model tell how it was trained.
        graphs: that it was trained on.
        provenance: further facts for the card.
        overwrite: replace an existing folder, with its card.

    Raises:
        ConfigurationError: the folder exists, or the graphs are not the model's.
    """
    if folder.exists() and not overwrite:
        raise ConfigurationError(
            f"Expected a new folder (there is {str(folder)!r}); its card may have been "
            "edited: choose another name, or replace it with --replace"
        )
    model_dir = find_model(model_dir)
    model = load_model(model_dir, ComputeConfig(device="cpu"))
    schema = graphs.vocabularies.schema
    if model.schema != schema:
        raise ConfigurationError(
            f"Expected a model of the graphs in {str(graphs.folder)!r}: {schema} (got "
            f"{model.schema} in {str(model_dir)!r}); choose the environment whose "
            "graphs it was trained on"
        )
    variant = graphs.variant
    known = replace(
        provenance or Provenance(),
        facts=_read(model_dir.parent / FACTS, {}),
        history=_read(model_dir.parent / HISTORY, []),
    )
    with replace_folder(folder) as part:
        ReleasedEncoder.write_vocabularies(part, graphs.vocabularies, variant)
        save_model(part, model, half=True)
        card = known.write_card(folder.name, model, variant)
        (part / CARD).write_text(card, encoding="utf-8")
        write_checksums(part, skip=(CARD,))


def find_model(folder: Path) -> Path:
    """Return the folder of the model, given that or the folder of its training.

    A training of the stage has a folder around that.
    """
    inner = Path(folder) / MODEL
    places = (place for place in (inner / MODEL, inner) if (place / CONFIG).is_file())
    return next(places, Path(folder))


def has_same_weights(one: Path, two: Path) -> bool:
    """Whether two model folders have the same weights in float16."""
    if read_shape(one) != read_shape(two):
        return False
    cpu = ComputeConfig(device="cpu")
    first, second = (load_model(folder, cpu).state_dict() for folder in (one, two))
    return all(torch.equal(v.half(), second[n].half()) for n, v in first.items())


def _read(path: Path, default: Any) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else default


Values = Mapping[str, Any]


@dataclass(frozen=True)
class Provenance:
    """Facts about a training besides its weights."""

    facts: Values = field(default_factory=dict)
    """``training.json``: pairs, settings."""
    history: Sequence[Values] = ()
    """``history.json``: one record per epoch."""
    surroundings: Values = field(default_factory=dict)
    """Further facts: environment, parser, ..."""
    metrics: Sequence[Values] = ()
    """Means of all measures, by task, topic set and system."""

    def write_card(self, name: str, model: MathAMRPlus, variant: GraphVariant) -> str:
        """Return the card as Markdown; licence and limits are added by hand."""
        facts = self.facts
        shape = [
            *asdict(model.config).items(),
            ("parameters", model.count_parameters()["all"]),
            ("node types", model.schema.num_node_types),
            ("relations", model.schema.num_relations),
            *((f"graph.{key}", value) for key, value in asdict(variant).items()),
        ]
        data = [
            ("training pairs", facts.get("pairs", "not recorded")),
            ("validation pairs", facts.get("validation_pairs", "not recorded")),
            *([("started from weights", facts["start"])] if "start" in facts else []),
            *self.surroundings.items(),
        ]
        parts = [
            f"# {name}",
            "A MathAMR+ encoder: it turns math graphs into vectors of formulas, "
            "sentences and posts. Weights are stored in float16.",
            "```yaml\n"
            f"preprocessing: {{vocabulary: {{source: {name}}}}}\n"
            f"training: {{start_from: {name}, num_epochs: 0}}   "
            "# or more: fine-tune it\n"
            "```",
            "## Model",
            format_table(("what", "value"), shape),
            "## Data",
            format_table(("what", "value"), data),
            "## Training",
            *_describe_training(self),
            "## Figures",
            *_describe_metrics(self.metrics),
            "## Licence",
            "*To be written: licences of these weights and of the texts they learnt "
            "from.*",
            "## Limits",
            "*To be written: what it was not trained for, and where it fails.*",
        ]
        return "\n\n".join(parts) + "\n"


def _describe_training(provenance: Provenance) -> Iterable[str]:
    history = provenance.history
    if history:
        best = min(history, key=_watched)
        held_out = best["validation_loss"]
        rows = [
            ("epochs", len(history)),
            ("best epoch", best["epoch"]),
            ("training loss", f"{best['train_loss']:.4f}"),
            ("validation loss", "–" if held_out is None else f"{held_out:.4f}"),
            ("minutes", f"{sum(r['seconds'] for r in history) / 60:.1f}"),
        ]
        yield format_table(("what", "value"), rows)
    else:
        yield "The training history was not recorded."
    if "settings" in provenance.facts:
        yield f"```json\n{json.dumps(provenance.facts['settings'], indent=2)}\n```"


def _watched(record: Values) -> float:
    held_out = record["validation_loss"]
    return float(record["train_loss"] if held_out is None else held_out)


def _describe_metrics(metrics: Sequence[Values]) -> Iterable[str]:
    if not metrics:
        yield "The encoder was not evaluated in this environment."
    for task, name in dict.fromkeys((m["task"], m["topic_set"]) for m in metrics):
        chosen = [m for m in metrics if (m["task"], m["topic_set"]) == (task, name)]
        measures = list(dict.fromkeys(m["measure"] for m in chosen))[:_MEASURES]
        rows: dict[str, dict[str, float]] = {"floor": {}}
        for m in chosen:
            rows["floor"][m["measure"]] = m["floor"]
            rows.setdefault(m["system"], {})[m["measure"]] = m["mean"]
        rows["ceiling"] = {m["measure"]: m["ceiling"] for m in chosen}
        yield f"Task {task}, {name}, {chosen[0]['topics']} topics:"
        yield format_table(
            ("system", *measures),
            [(s, *(format_score(v[m]) for m in measures)) for s, v in rows.items()],
        )
