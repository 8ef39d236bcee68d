r"""Training of low-rank adapters (Hu et al. 2022), the base model frozen.

.. math::
    h = W x + \frac{\alpha}{r} B A x

with :math:`A \in R^{r \times k}` and :math:`B \in R^{d \times r}` for every linear
layer; B is 0 at the start, so that the base model is what the training starts from.
The loss is InfoNCE in both directions (Eq. 3.6) on cosines of texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.files import replace_folder
from mathamr_kedro.learning.loop import (
    VALIDATION_LOSS,
    ModuleLearner,
    Training,
    rise_and_fall,
)
from mathamr_kedro.model import ComputeConfig, info_nce
from mathamr_kedro.systems.adapter.pairs import Batch, Rows, draw_batches, load_pairs
from mathamr_kedro.systems.base import Epochs
from mathamr_kedro.text.sentence_encoder import load_model

if TYPE_CHECKING:
    from mathamr_kedro.systems.adapter.system import ModelConfig

_BASE = "base"
_TEMPERATURE = 0.05
_MAX_TOKENS = 224
_WEIGHT_DECAY = 0.01
_CLIP_NORM = 1.0


def copy_base(source: Path, folder: Path) -> None:
    """Write a base model in half precision: another machine trains without ours."""
    load_model(source).half().save(str(folder / _BASE))


def train_adapter(
    prepared: Path, folder: Path, config: ModelConfig, seed: int
) -> Epochs:
    """Train, or resume; the best epoch's adapter is in ``folder``."""
    torch.manual_seed(seed)
    device = ComputeConfig().choose_device()
    model = load_model(prepared / _BASE, str(device))
    model.max_seq_length = min(model.max_seq_length or _MAX_TOKENS, _MAX_TOKENS)
    weights = add_adapter(model, config.rank)
    kinds = load_pairs(prepared)

    def compute(drawn: tuple[str, Rows]) -> Tensor:
        kind, rows = drawn
        batch = kinds[kind].batch(rows)
        with torch.autocast(device.type, torch.bfloat16, device.type == "cuda"):
            sides = [_encode(model, side) for side in (batch.questions, batch.answers)]
        return _find_loss(sides, batch)

    def validate() -> Mapping[str, float]:
        found = {}
        for kind, pairs in kinds.items():
            cut = pairs.cut(pairs.held_out, config.batch_size)
            losses = [float(compute((kind, rows))) for rows in cut]
            if losses:
                sizes = [len(rows) for rows in cut]
                found[kind] = float(np.average(losses, weights=sizes))
        mean = {VALIDATION_LOSS: float(np.mean(list(found.values())))} if found else {}
        return mean | {f"loss_of_{kind}": loss for kind, loss in found.items()}

    learner = ModuleLearner(
        name=f"adapter of {config.base}",
        module=weights,
        optimizer=torch.optim.AdamW(
            weights.parameters(), lr=config.learning_rate, weight_decay=_WEIGHT_DECAY
        ),
        draw_batches=lambda epoch: draw_batches(
            kinds,
            config.steps,
            config.batch_size,
            np.random.default_rng((seed, epoch + 1)),
        ),
        compute=compute,
        validate=validate,
        keep_best=lambda: save_adapter(model, config.base, folder),
        rate=rise_and_fall,
        clip_norm=_CLIP_NORM,
        batch_size=config.batch_size,
        unit="pairs",
    )
    made_from = checksum(asdict(config), seed)
    checkpoint = folder.parent / "checkpoint.pt"
    history = Training(learner, checkpoint, made_from, config.epochs).run()
    checkpoint.unlink(missing_ok=True)
    return [dict(record) for record in history]


def add_adapter(model: Any, rank: int) -> nn.ParameterList:
    """Add adapters to all linear layers of a sentence encoder; return their weights.

    Raises:
        ConfigurationError: the package peft is missing.
    """
    try:
        from peft import LoraConfig  # noqa: PLC0415
    except ImportError as exc:
        raise ConfigurationError(
            'Expected the package peft; pip install "mathamr-kedro[text]"'
        ) from exc
    linear = {
        name.rpartition(".")[2]
        for name, module in model[0].auto_model.named_modules()
        if isinstance(module, nn.Linear)
    }
    config = LoraConfig(
        r=rank,
        lora_alpha=2 * rank,
        target_modules=sorted(linear),
        exclude_modules=r"pooler\..*",  # sentences are the mean of their tokens
        task_type="FEATURE_EXTRACTION",
    )
    model.add_adapter(config)
    model.eval()  # so little is learnt from so few weights that dropout only hurts
    return nn.ParameterList(p for p in model.parameters() if p.requires_grad)


def save_adapter(model: Any, base: str, folder: Path) -> None:
    """Write the adapters of a model, in half precision, in the format of peft."""
    from mathamr_kedro.text.models import name_base  # noqa: PLC0415

    network = model[0].auto_model
    network.peft_config["default"].base_model_name_or_path = name_base(base)
    state = {
        name: value.half() if value.is_floating_point() else value
        for name, value in network.state_dict().items()
    }
    with replace_folder(folder) as part:
        network.save_pretrained(part, state_dict=state)


def _encode(model: Any, texts: Sequence[str]) -> Tensor:
    features = {
        name: value.to(model.device)
        for name, value in model.preprocess(list(texts)).items()
        if isinstance(value, Tensor)
    }
    found: Tensor = model(features)["sentence_embedding"]
    return F.normalize(found.float(), dim=-1)


def _find_loss(sides: Sequence[Tensor], batch: Batch) -> Tensor:
    scores = sides[0] @ sides[1].T
    excluded = torch.from_numpy(batch.excluded).to(scores.device)
    return info_nce(scores, _TEMPERATURE, excluded, symmetric=True)
