"""Settings that a released encoder makes void.

::

    training.start_from     its shape counts: training.model is void
      and num_epochs 0      it is taken as it is: all of training is void, seed and all
    vocabulary.source       its vocabularies count: how to make others is void
    either of them          its graphs are given: preprocessing.graph has one value

An experiment whose conditions differ only in such settings would compare an encoder
with itself.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.experiments.grid import SYSTEMS, Cell, list_leaves
from mathamr_kedro.experiments.trainings import TrainingStageConfig
from mathamr_kedro.graph import PreprocessingConfig, ReleasedEncoder
from mathamr_kedro.model.weights import CONFIG

logger = logging.getLogger(__name__)

_HOW_IT_RUNS = ("compute", "tracking", "steps", "checkpoint_seconds", "log_seconds")
_ALWAYS_COUNT = tuple(
    f"training.{name}" for name in ("num_epochs", "start_from", *_HOW_IT_RUNS)
)


class ReleasedSettings:
    """The settings of a training in the light of the encoder that it starts from.

    Args:
        parameters: of the stages preprocessing and training.
    """

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._values = {
            name: value
            for stage in ("preprocessing", "training")
            for name, value in list_leaves(parameters.get(stage, {}), stage)
        }
        self._start: str | None = self._values.get("training.start_from")
        self._source = self._values.get("preprocessing.vocabulary.source")
        self.encoder: str | None = self._start or self._source
        """The released one, if there is one."""

    @property
    def is_trained(self) -> bool:
        """Whether anything is learnt."""
        return self._start is None or self._values.get("training.num_epochs") != 0

    def is_void(self, name: str) -> bool:
        """Tell whether a setting has no effect, by its dotted name."""
        if name.startswith("preprocessing.vocabulary."):
            return self._source is not None and not name.endswith(".source")
        if self._start is None or name.startswith(_ALWAYS_COUNT):
            return False
        if name.startswith("preprocessing."):
            return not self.is_trained and name.startswith("preprocessing.pairs.")
        return not self.is_trained or name.startswith("training.model.")

    @property
    def key(self) -> str:
        """Hash of the settings that decide the encoder: equal ones make one encoder."""
        given = () if self.encoder is None else ("preprocessing.graph.",)
        return checksum(
            {
                name: value
                for name, value in self._values.items()
                if not self.is_void(name)
                and not name.startswith(("preprocessing.workers.", *given))
            }
        )

    def list_void(self) -> list[str]:
        """Describe void settings that were set: to neither default nor the encoder's.

        Seeds and pairs are skipped: environments set them for whatever they train.
        """
        defaults = dict(
            (
                *list_leaves(asdict(TrainingStageConfig()), "training"),
                *list_leaves(asdict(PreprocessingConfig()), "preprocessing"),
            )
        )
        skipped = ("training.seed", "preprocessing.pairs.")
        return [
            f"{name} {value!r}" + self._name_own(name)
            for name, value in self._values.items()
            if self.is_void(name)
            and not name.startswith(skipped)
            and value not in (defaults.get(name), self._shape.get(name))
        ]

    def warn(self) -> None:
        """Name the void settings in the log, if there are any."""
        void = self.list_void()
        if void:
            how = "comes first" if self.is_trained else "is taken as it is"
            logger.warning(
                "The released encoder %r %s, so these settings have no effect: %s; "
                "--env NAME+scratch trains one from nothing",
                self.encoder,
                how,
                ", ".join(void),
            )

    @cached_property
    def _shape(self) -> dict[str, Any]:
        """What the encoder's own card says, by the names of the settings."""
        if self._start is None:
            return {}
        file = ReleasedEncoder(self._start).folder / CONFIG
        values = json.loads(file.read_text(encoding="utf-8"))
        return dict(list_leaves(values["model"], "training.model"))

    def _name_own(self, name: str) -> str:
        return f" (its own: {self._shape[name]!r})" if name in self._shape else ""


def refuse_shared_trainings(cells: Sequence[Cell], command: str) -> None:
    """Refuse an experiment whose conditions or seeds come down to one encoder.

    Conditions that search one encoder in several ways share their training by intent.

    Args:
        cells: of the conditions and seeds to run.
        command: that would train them from nothing.

    Raises:
        ConfigurationError: two cells that should be trained apart are not.
    """
    seen: dict[str, Cell] = {}
    for cell in cells:
        if cell.parameters.get(SYSTEMS):  # those are trained, with each seed
            continue
        settings = ReleasedSettings(cell.parameters)
        first = seen.setdefault(settings.key, cell)
        if first.training == cell.training:
            continue
        encoder = f"the released encoder {settings.encoder!r}"
        encoder += "" if settings.is_trained else " as it is"
        if first.condition == cell.condition:
            raise ConfigurationError(
                f"Expected one seed if nothing is trained (got {first.seed} and "
                f"{cell.seed}, both {encoder}); `{command}` trains an encoder for each "
                f"seed, --seeds {first.seed} searches with the released one"
            )
        raise ConfigurationError(
            f"Expected conditions with encoders of their own (got {first.condition!r} "
            f"and {cell.condition!r}, both {encoder}, which leaves no "
            f"choice of {', '.join(_list_differences(first, cell))}); run `{command}`, "
            "which trains from nothing"
        )


def _list_differences(one: Cell, other: Cell) -> list[str]:
    first, second = (
        dict(
            leaf
            for stage in ("preprocessing", "training")
            for leaf in list_leaves(cell.changes.get(stage, {}), stage)
        )
        for cell in (one, other)
    )
    return sorted(
        name for name in first.keys() | second.keys()
        if first.get(name) != second.get(name)
    )  # fmt: skip
