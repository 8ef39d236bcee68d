r"""Training of low-rank adapters (Hu et al. 2022), the base model frozen.

.. math::
    h = W x + \frac{\alpha}{r} B A x

with :math:`A \in R^{r \times k}` and :math:`B \in R^{d \times r}` for every linear
layer; B is 0 at the start, so that the base model is what the training starts from.
The loss is InfoNCE in both directions (Eq. 3.6) on cosines of texts. Teachers, if there
are some, add the divergence of the distributions over the texts of a batch that the
mean of their cosines gives from those of the adapted model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.files import replace_file, replace_folder
from mathamr_kedro.learning.distillation import compare_similarities
from mathamr_kedro.learning.loop import (
    VALIDATION_LOSS,
    ModuleLearner,
    Training,
    rise_and_fall,
)
from mathamr_kedro.model import current_compute, info_nce
from mathamr_kedro.systems.adapter.pairs import (
    Batch,
    Rows,
    TextPairs,
    draw_batches,
    load_pairs,
)
from mathamr_kedro.systems.base import Epochs
from mathamr_kedro.text.models import find_text_model, name_base
from mathamr_kedro.text.sentence_encoder import load_model

if TYPE_CHECKING:
    from mathamr_kedro.systems.adapter.system import ModelConfig

_BASE, _TEACHERS, _TAUGHT = "base", "teachers", "taught"
_TEMPERATURE = 0.05
_MAX_TOKENS = 160
_WEIGHT_DECAY = 0.01
_CLIP_NORM = 1.0


def copy_models(config: ModelConfig, folder: Path) -> None:
    """Write all models in half precision: another machine trains without ours."""
    places = {_BASE: config.base} | {
        f"{_TEACHERS}/{number}": name for number, name in enumerate(config.teachers)
    }
    for place, name in places.items():
        load_model(find_text_model(name)).half().save(str(folder / place))


def train_adapter(
    prepared: Path, folder: Path, config: ModelConfig, seed: int
) -> Epochs:
    """Train, or resume; the best epoch's adapter is in ``folder``."""
    torch.manual_seed(seed)
    device = current_compute().choose_device()
    kinds = load_pairs(prepared)
    taught = encode_taught(prepared, kinds, device) if config.teachers else {}
    model = _load(prepared / _BASE, device)
    weights = add_adapter(model, config.rank)

    def compute(drawn: tuple[str, Rows]) -> Tensor:
        kind, rows = drawn
        batch = kinds[kind].batch(rows)
        with torch.autocast(device.type, torch.bfloat16, device.type == "cuda"):
            sides = [_encode(model, side) for side in (batch.questions, batch.answers)]
        loss = _find_loss(sides, batch)
        if taught:
            said = [
                torch.from_numpy(taught[kind][rows]).to(device) for rows in batch.rows
            ]
            loss = loss + config.teacher_weight * _find_divergence(sides, said)
        return loss

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


def encode_taught(
    prepared: Path, kinds: Mapping[str, TextPairs], device: torch.device
) -> dict[str, NDArray[np.float16]]:
    """Encode the texts of each kind by all teachers, or read what was encoded.

    Returns:
        (N, k) vectors whose products are the mean of the teachers' cosines.
    """
    paths = {kind: prepared / _TAUGHT / f"{kind}.npy" for kind in kinds}
    missing = [kind for kind, path in paths.items() if not path.is_file()]
    found: dict[str, list[NDArray[np.float32]]] = {kind: [] for kind in missing}
    for folder in sorted((prepared / _TEACHERS).iterdir()) if missing else ():
        model = _load(folder, device)
        for kind in missing:
            with torch.autocast(device.type, torch.bfloat16, device.type == "cuda"):
                vectors = model.encode(
                    kinds[kind].texts,
                    batch_size=512 if device.type == "cuda" else 32,
                    show_progress_bar=False,
                    normalize_embeddings=True,
                )
            found[kind].append(vectors)
    (prepared / _TAUGHT).mkdir(exist_ok=True)
    for kind, parts in found.items():
        joined = np.concatenate(parts, axis=1) / len(parts) ** 0.5
        with replace_file(paths[kind]) as part, part.open("wb") as file:
            np.save(file, joined.astype(np.float16))
    return {kind: np.load(path) for kind, path in paths.items()}


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
    network = model[0].auto_model
    network.peft_config["default"].base_model_name_or_path = name_base(base)
    state = {
        name: value.half() if value.is_floating_point() else value
        for name, value in network.state_dict().items()
    }
    with replace_folder(folder) as part:
        network.save_pretrained(part, state_dict=state)


def _load(folder: Path, device: torch.device) -> Any:
    model = load_model(folder, str(device))
    model.max_seq_length = min(model.max_seq_length or _MAX_TOKENS, _MAX_TOKENS)
    return model


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


def _find_divergence(sides: Sequence[Tensor], said: Sequence[Tensor]) -> Tensor:
    """Return the mean divergence from the teachers over both directions."""
    found = sides[0] @ sides[1].T / _TEMPERATURE
    wanted = said[0].float() @ said[1].float().T / _TEMPERATURE
    every = torch.ones(len(found), dtype=torch.bool, device=found.device)
    there = compare_similarities(wanted, found, every, every)
    back = compare_similarities(wanted.T, found.T, every, every)
    return (there + back) / 2
