"""The model card of a released encoder: what it is, how it was made, how good it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mathamr_kedro.base.formatting import format_score, format_table
from mathamr_kedro.graph import GraphVariant
from mathamr_kedro.model import MathAMRPlus

Values = Mapping[str, Any]

_MEASURES = 4
"""The first ones: nDCG', MAP', P'@10 and Bpref by default."""


@dataclass(frozen=True)
class Provenance:
    """What is known about a training besides its weights."""

    facts: Values = field(default_factory=dict)
    """``training.json``: pairs, settings."""
    history: Sequence[Values] = ()
    """``history.json``: one record per epoch."""
    surroundings: Values = field(default_factory=dict)
    """Anything else: environment, parser, ..."""
    metrics: Sequence[Values] = ()
    """Means of all measures, by task, topic set and system."""

    def write_card(self, name: str, model: MathAMRPlus, variant: GraphVariant) -> str:
        """Return the card as Markdown; a person adds licence and limits."""
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
            format_table(("what", "value"), _list_shape(model, variant)),
            "## Data",
            format_table(("what", "value"), _list_data(self)),
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


def _list_shape(model: MathAMRPlus, variant: GraphVariant) -> list[tuple[str, Any]]:
    return [
        *asdict(model.config).items(),
        ("parameters", model.count_parameters()["all"]),
        ("node types", model.schema.num_node_types),
        ("relations", model.schema.num_relations),
        *((f"graph.{key}", value) for key, value in asdict(variant).items()),
    ]


def _list_data(provenance: Provenance) -> list[tuple[str, Any]]:
    facts = provenance.facts
    return [
        ("training pairs", facts.get("pairs", "not recorded")),
        ("validation pairs", facts.get("validation_pairs", "not recorded")),
        *([("started from weights", facts["start"])] if "start" in facts else []),
        *provenance.surroundings.items(),
    ]


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
