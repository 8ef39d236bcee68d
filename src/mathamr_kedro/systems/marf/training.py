"""The three trainings one after another (3.4), on a machine with torch alone.

::

    1  context   fine-tuned by MaxSim over tokens, or left as it came
    2  formula   from nothing, on formulas of questions and of their answers
       both are frozen, rounded to half precision, and what they say of posts is kept
    3  fusion    posts with one of their formulas each

    model/
      context/          the context encoder, in half precision, and its tokenizer
      formula.arrays    weights of the formula encoder, in half precision
      fusion.arrays     those of the fusion
      vocabulary.json   tokens of LaTeX
      training.json     the epochs; there when all is done
      *.pt, vectors/    while it goes on
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mathamr_kedro.base.arrays import read_arrays, write_arrays
from mathamr_kedro.base.files import replace_folder, write_text
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model import ComputeConfig
from mathamr_kedro.systems.base import Epochs
from mathamr_kedro.systems.marf.batches import encode_rows
from mathamr_kedro.systems.marf.config import ModelConfig, PhaseConfig, Scoring
from mathamr_kedro.systems.marf.context_encoder import ContextEncoder
from mathamr_kedro.systems.marf.formula_encoder import FormulaEncoder
from mathamr_kedro.systems.marf.frozen_vectors import FrozenVectors
from mathamr_kedro.systems.marf.fusion import GatedFusion
from mathamr_kedro.systems.marf.losses import contrastive_loss, score_batch
from mathamr_kedro.systems.marf.phases import LossOfBatch, Phase, Rows
from mathamr_kedro.systems.marf.post_shards import PostShards

_DONE, _CONTEXT, _VECTORS = "training.json", "context", "vectors"
_FORMULA, _FUSION = "formula.arrays", "fusion.arrays"


class MarfTraining:
    """The training of one model.

    Args:
        prepared: what the stage prepared.
        folder: of the model.
        config: what decides its weights.
        seed: of first weights, order and draws.
    """

    def __init__(
        self, prepared: Path, folder: Path, config: ModelConfig, seed: int
    ) -> None:
        self._prepared, self._folder = prepared, folder
        self._config, self._seed = config, seed
        self._shards = PostShards(prepared)
        self._device = ComputeConfig().choose_device()

    def run(self) -> Epochs:
        """Train, or go on; return the epochs of all three."""
        done = self._folder / _DONE
        if not done.is_file():
            context, history = self._train_context()
            formula, more = self._train_formula()
            history += more
            kept = self._folder / _VECTORS
            vectors = FrozenVectors(self._shards, kept, self._device)
            vectors.write(context, formula)
            history += self._train_fusion(vectors, context.width)
            self._shards.vocabulary.save(self._folder)
            write_text(done, json.dumps(history, indent=2))
        shutil.rmtree(self._folder / _VECTORS, ignore_errors=True)
        for checkpoint in self._folder.glob("*.pt"):
            checkpoint.unlink()
        found: Epochs = json.loads(done.read_text(encoding="utf-8"))
        return found

    def _train_context(self) -> tuple[ContextEncoder, Epochs]:
        source = self._prepared / _CONTEXT
        encoder = ContextEncoder(source).to(self._device)
        config = self._config.context_training

        def find_loss(rows: Rows, rng: np.random.Generator) -> Tensor:
            sides = [
                encode_rows(encoder, [self._shards.text(row) for row in rows[:, side]])
                for side in (0, 1)
            ]
            return _score_pairs(sides, "token", config, _list_negatives(rows))

        history = self._run("context", encoder, config, find_loss)
        target = self._folder / _CONTEXT
        if not target.is_dir():
            with replace_folder(target) as part:
                encoder.save(part)
        encoder = ContextEncoder(target).to(self._device)
        return encoder.eval(), history

    def _train_formula(self) -> tuple[FormulaEncoder, Epochs]:
        torch.manual_seed(self._seed)
        shards, config = self._shards, self._config.formula_training
        encoder = FormulaEncoder(
            len(shards.vocabulary), self._config.width, self._config.layers,
            self._config.heads,
        ).to(self._device)  # fmt: skip

        def find_loss(rows: Rows, rng: np.random.Generator) -> Tensor:
            numbers = self._draw_formulas(rows, rng)
            drawn = [
                [shards.formula(r, n) for r, n in zip(side, chosen, strict=True)]
                for side, chosen in zip(rows.T, numbers.T, strict=True)
            ]
            sides = [encode_rows(encoder, formulas) for formulas in drawn]
            names = np.array([f.tobytes() for f in drawn[1]], dtype=object)
            is_negative = _list_negatives(rows) & (names[:, None] != names)
            return _score_pairs(sides, self._config.scoring, config, is_negative)

        history = self._run("formula", encoder, config, find_loss)
        _round_weights(encoder, self._folder / _FORMULA)
        return encoder.eval(), history

    def _train_fusion(self, vectors: FrozenVectors, width: int) -> Epochs:
        torch.manual_seed(self._seed + 1)
        config = self._config.fusion_training
        fusion = GatedFusion(width, self._config.width, self._config.heads)
        fusion = fusion.to(self._device)

        def find_loss(rows: Rows, rng: np.random.Generator) -> Tensor:
            numbers = self._draw_formulas(rows, rng)
            sides = [
                fusion.fuse(vectors.texts(side), vectors.formulas(side, chosen))
                for side, chosen in zip(rows.T, numbers.T, strict=True)
            ]
            return _score_pairs(sides, "token", config, _list_negatives(rows))

        history = self._run("fusion", fusion, config, find_loss)
        _round_weights(fusion, self._folder / _FUSION)
        return history

    def _run(
        self, name: str, module: nn.Module, config: PhaseConfig, loss: LossOfBatch
    ) -> Epochs:
        pairs, held_out = self._shards.pairs, self._shards.held_out
        if name == "formula":
            pairs, held_out = self._with_formulas(pairs), self._with_formulas(held_out)
        phase = Phase(name, module, config, self._seed, pairs, held_out, loss)
        return phase.run(self._folder)

    def _with_formulas(self, pairs: Rows) -> Rows:
        """Return the pairs of which both sides have a formula."""
        counts = [min(map(self._shards.count_formulas, pair)) for pair in pairs]
        return pairs[np.array(counts, dtype=np.int64) > 0]

    def _draw_formulas(self, rows: Rows, rng: np.random.Generator) -> Rows:
        """(B, 2) number of a formula of each post, 0 where it has none."""
        counts = [[self._shards.count_formulas(row) for row in pair] for pair in rows]
        return rng.integers(0, np.maximum(counts, 1))

    @staticmethod
    def load_weights(module: nn.Module, path: Path) -> None:
        """Fill a module with weights that were kept in half precision."""
        found = read_arrays(path)
        tensors = {name: torch.from_numpy(v).float() for name, v in found.items()}
        module.load_state_dict(tensors)


def _round_weights(module: nn.Module, path: Path) -> None:
    """Keep weights in half precision, and go on with what was kept."""
    state = module.state_dict()
    write_arrays(path, {name: v.half().cpu().numpy() for name, v in state.items()})
    MarfTraining.load_weights(module, path)


def _score_pairs(
    sides: list[RaggedVectors[Tensor]],
    scoring: Scoring,
    config: PhaseConfig,
    is_negative: NDArray[np.bool_],
) -> Tensor:
    scores = score_batch(sides[0], sides[1], scoring)
    allowed = torch.from_numpy(is_negative).to(scores.device)
    return contrastive_loss(scores, allowed, config.temperature, config.objective)


def _list_negatives(rows: Rows) -> NDArray[np.bool_]:
    """(B, B) answers of other questions than one's own."""
    questions, answers = rows.T
    found: NDArray[np.bool_] = (questions[:, None] != questions) & (
        answers[:, None] != answers
    )
    return found
