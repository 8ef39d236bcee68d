"""The three trainings one after another (3.4), on a machine with torch only.

::

    1  context   pretrained further (:class:`.Pretraining`), fine-tuned by MaxSim over
                 tokens, or left as it came
    2  formula   from nothing, on formulas of questions and of their answers
       both are frozen, rounded to half precision, and what they say of posts is kept
    3  fusion    posts with one of their formulas each

    model/
      context/          the context encoder, in half precision, and its tokenizer
      formula.arrays    weights of the formula encoder, in half precision
      fusion.arrays     those of the fusion
      vocabulary.json   tokens of LaTeX
      training.json     the epochs, written when all is done
      work/             checkpoints, best weights and kept vectors until then

Order and draws of each step follow from the seed, the epoch and the step only: a
stopped training resumes to the same weights.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mathamr_kedro.base.arrays import Arrays, read_arrays
from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.files import replace_folder, write_text
from mathamr_kedro.base.machines import Machine
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.base.vocabulary import Vocabulary
from mathamr_kedro.learning.loop import (
    VALIDATION_LOSS,
    ModuleLearner,
    Training,
    measure_memory,
    rise_and_fall,
)
from mathamr_kedro.model import current_compute
from mathamr_kedro.systems.base import Epochs
from mathamr_kedro.systems.marf.config import ModelConfig, PhaseConfig, Scoring
from mathamr_kedro.systems.marf.networks import (
    ContextEncoder,
    FormulaEncoder,
    GatedFusion,
    Ids,
    Pretraining,
    contrastive_loss,
    encode_rows,
    scale_tokens,
    score_batch,
)
from mathamr_kedro.systems.vector_rows import VectorRows, VectorWriter
from mathamr_kedro.systems.weights import load_weights, save_weights

logger = logging.getLogger(__name__)

Rows: TypeAlias = NDArray[np.int64]

CONTEXT, VOCABULARY, POSTS = "context", "vocabulary.json", "posts.arrays"
FORMULA, FUSION = "formula.arrays", "fusion.arrays"
_DONE, _WORK = "training.json", "work"
_CLIP_NORM = 1.0
_ROWS_AT_ONCE = 128
_HELD_OUT = 10
"""Every tenth post chooses the best epoch of the pretraining."""

LossOfPairs: TypeAlias = Callable[[Rows, np.random.Generator], Tensor]
"""(B, 2) rows of questions and answers, and what draws their formulas: their loss."""


class PostFormulas:
    """Formulas, or sentences, of posts by the rows of these."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        self.rows = RaggedVectors(arrays[name], arrays[f"{name}_ptr"])
        self._owners = arrays[f"{name}_owners"]

    @cached_property
    def counts(self) -> Rows:
        """(N,) how many formulas each post has."""
        return np.diff(self._owners)

    def find(self, posts: Rows, numbers: Rows) -> Rows:
        """Return the rows of formulas by post and number; -1 if a post has none."""
        has_any = self.counts[posts] > 0
        return np.where(has_any, self._owners[posts] + numbers, -1)

    def draw(self, posts: Rows, rng: np.random.Generator) -> Rows:
        """Return the row of a formula of each post, drawn; -1 if it has none."""
        return self.find(posts, rng.integers(0, np.maximum(self.counts[posts], 1)))


class TrainingPosts:
    """Posts of a prepared folder by their rows, and pairs of them."""

    def __init__(self, folder: Path) -> None:
        arrays = read_arrays(folder / POSTS)
        self.texts = RaggedVectors(arrays["text"], arrays["text_ptr"])
        self.formulas = PostFormulas(arrays, "formulas")
        self.fused = PostFormulas(arrays, "fused")
        self.sentences = PostFormulas(arrays, "sentences")
        self.pairs, self.held_out = arrays["pairs"], arrays["held_out"]
        self.accepted = self.pairs[: int(arrays["accepted"][0])]
        """Those that formulas are learnt from."""
        self.vocabulary = Vocabulary.load(folder / VOCABULARY)


class Batch(NamedTuple):
    """Pairs of a step."""

    pairs: Rows
    """(B, 2) rows of questions and answers."""
    seed: tuple[int, int, int]
    """Of dropout and of what is drawn in the step."""


class MarfTraining:
    """The training of one model, from what the stage prepared."""

    def __init__(
        self, prepared: Path, folder: Path, config: ModelConfig, seed: int
    ) -> None:
        self._prepared, self._folder = prepared, folder
        self._config, self._seed = config, seed
        self._posts = TrainingPosts(prepared)
        self._device = current_compute().choose_device()

    def run(self) -> Epochs:
        """Train, or resume; return the epochs of all three."""
        done, work = self._folder / _DONE, self._folder / _WORK
        if not done.is_file():
            work.mkdir(exist_ok=True)
            context, history = self._train_context()
            formula, more = self._train_formula()
            history += more + self._train_fusion(context, formula)
            self._posts.vocabulary.save(self._folder / VOCABULARY)
            write_text(done, json.dumps(history, indent=2))
        shutil.rmtree(work, ignore_errors=True)
        found: Epochs = json.loads(done.read_text(encoding="utf-8"))
        return found

    def _train_context(self) -> tuple[ContextEncoder, Epochs]:
        encoder = ContextEncoder(self._prepared / CONTEXT).to(self._device)
        history = self._pretrain(encoder)
        texts = self._posts.texts

        def find_loss(pairs: Rows, rng: np.random.Generator) -> Tensor:
            sides = [encode_rows(encoder, _list_rows(texts, side)) for side in pairs.T]
            return self._score_pairs(sides, "token", _list_negatives(pairs))

        config = self._config.context_training
        history += self._run("context", encoder, config, find_loss)
        target = self._folder / CONTEXT
        if not target.is_dir():
            with replace_folder(target) as part:
                encoder.save(part)
        return ContextEncoder(target).to(self._device).eval(), history

    def _pretrain(self, encoder: ContextEncoder) -> Epochs:
        """Learn masked tokens and next sentences; half of them are of another post."""
        config, sentences = self._config.pretraining, self._posts.sentences
        torch.manual_seed(self._seed)  # of both heads
        module = Pretraining(encoder, self._config.max_tokens).to(self._device)

        def find_loss(posts: Rows, rng: np.random.Generator) -> Tensor:
            here = posts[:, 0]
            places = rng.integers(0, sentences.counts[here] - 1)
            first, second = (sentences.find(here, places + n) for n in (0, 1))
            follows = rng.random(len(here)) < 0.5
            others = sentences.draw(np.roll(here, 1), rng)
            rows = [first, np.where(follows, second, others)]
            sides = [_list_rows(sentences.rows, side) for side in rows]
            loss: Tensor = module(*sides, follows.tolist())
            return loss

        posts = np.arange(len(sentences.counts))[:, None]
        is_held_out = posts[:, 0] % _HELD_OUT == 0
        data = posts[~is_held_out], posts[is_held_out]
        return self._run("pretraining", module, config, find_loss, data)

    def _train_formula(self) -> tuple[FormulaEncoder, Epochs]:
        torch.manual_seed(self._seed)
        config, posts = self._config, self._posts
        encoder = make_formula_encoder(config, len(posts.vocabulary)).to(self._device)

        def find_loss(pairs: Rows, rng: np.random.Generator) -> Tensor:
            drawn = [
                _list_rows(posts.formulas.rows, rows)
                for rows in posts.formulas.draw(pairs, rng).T
            ]
            sides = [encode_rows(encoder, formulas) for formulas in drawn]
            names = np.array([f.tobytes() for f in drawn[1]], dtype=object)
            is_negative = _list_negatives(pairs) & (names[:, None] != names)
            return self._score_pairs(sides, config.scoring, is_negative)

        data = self._with_formulas(posts.accepted), self._with_formulas(posts.held_out)
        history = self._run(
            "formula", encoder, config.formula_training, find_loss, data
        )
        save_weights(encoder, self._folder / FORMULA, half=True)
        load_weights(encoder, self._folder / FORMULA)
        return encoder.eval(), history

    def _train_fusion(self, context: ContextEncoder, formula: FormulaEncoder) -> Epochs:
        texts = self._freeze("texts", context, self._posts.texts, scale=True)
        formulas = self._freeze("formulas", formula, self._posts.fused.rows)
        torch.manual_seed(self._seed + 1)
        config = self._config
        fusion = make_fusion(config, context.width).to(self._device)

        def find_loss(pairs: Rows, rng: np.random.Generator) -> Tensor:
            sides = []
            for side, rows in zip(
                pairs.T, self._posts.fused.draw(pairs, rng).T, strict=True
            ):
                # the last row of formulas is empty: -1 finds it
                chosen = rows % len(formulas)
                text = texts.take(side).to(self._device, torch.float32)
                found = formulas.take(chosen).to(self._device, torch.float32)
                sides.append(fusion.fuse(scale_tokens(text), found))
            return self._score_pairs(sides, "token", _list_negatives(pairs))

        history = self._run("fusion", fusion, config.fusion_training, find_loss)
        save_weights(fusion, self._folder / FUSION, half=True)
        return history

    @torch.no_grad()
    def _freeze(
        self,
        name: str,
        encoder: nn.Module,
        rows: RaggedVectors[Ids],
        scale: bool = False,
    ) -> RaggedVectors[NDArray[np.float16]]:
        """Encode all rows once, to be read in every epoch; an empty row is the last.

        The fusion sees every post in every epoch; what the encoders say never changes.
        """
        path = self._folder / _WORK / name
        if not path.with_suffix(".arrays").is_file():
            writer = VectorWriter(path)
            starts = range(0, len(rows), _ROWS_AT_ONCE)
            for start in report_progress(starts, f"{name} encoded for marf, batches"):
                numbers = np.arange(start, min(start + _ROWS_AT_ONCE, len(rows)))
                found = encode_rows(encoder, _list_rows(rows, numbers))
                writer.add(scale_tokens(found) if scale else found)
            none = torch.zeros(0, int(getattr(encoder, "width")))  # noqa: B009
            writer.add(RaggedVectors.of([none]))
            writer.close()
        return VectorRows(path).rows

    def _run(
        self,
        name: str,
        module: nn.Module,
        config: PhaseConfig,
        loss: LossOfPairs,
        data: tuple[Rows, Rows] | None = None,
    ) -> Epochs:
        """Train one part; it ends with the weights of its best epoch.

        ``data`` is what it learns from, and what is held out; pairs if ``None``.
        """
        pairs, held_out = data or (self._posts.pairs, self._posts.held_out)
        if not config.epochs:
            return []
        if len(pairs) < 2:
            raise ConfigurationError(
                "Expected at least 2 pairs of question and answer, or posts, with what "
                f"the training {name!r} of MaRF learns from (got {len(pairs)})"
            )
        best = self._folder / _WORK / f"{name}.arrays"

        def compute(batch: Batch) -> Tensor:
            rng = np.random.default_rng(batch.seed)
            torch.manual_seed(int(rng.integers(2**31)))  # of dropout
            return loss(batch.pairs, rng)

        parameters = [p for p in module.parameters() if p.requires_grad]
        learner = ModuleLearner(
            name=f"marf, {name}",
            module=module,
            optimizer=torch.optim.AdamW(parameters, lr=config.learning_rate),
            draw_batches=lambda epoch: self._draw_batches(pairs, config, epoch),
            compute=compute,
            validate=lambda: {
                **_validate(held_out, config.batch_size, loss),
                "memory_mib": measure_memory(self._device),
            },
            keep_best=lambda: save_weights(module, best),
            beats_start=True,
            rate=rise_and_fall,
            clip_norm=_CLIP_NORM,
            facts={
                "part": name,
                "parameters": sum(p.numel() for p in parameters),
                "machine": asdict(Machine.find(str(self._device))),
            },
            batch_size=config.batch_size,
            unit="pairs",
        )
        rows = [found.tolist() for found in (pairs, held_out)]
        made_from = checksum(name, asdict(self._config), self._seed, rows)
        checkpoint = self._folder / _WORK / f"{name}.pt"
        training = Training(learner, checkpoint, made_from, config.epochs)
        state = training.resume()
        history = training.run()
        load_weights(module, best)
        if not state.best_epoch:
            logger.warning(
                "%s: no epoch was better than the start on the pairs that are held "
                "out; the start is kept", name,
            )  # fmt: skip
        return history

    def _draw_batches(
        self, pairs: Rows, config: PhaseConfig, epoch: int
    ) -> list[Batch]:
        order = np.random.default_rng((self._seed, epoch + 1)).permutation(len(pairs))
        size = config.batch_size
        parts = [order[a : a + size] for a in range(0, len(order), size)]
        return [
            Batch(pairs[rows], (self._seed, epoch + 1, step))
            for step, rows in enumerate(rows for rows in parts if len(rows) > 1)
        ]

    def _with_formulas(self, pairs: Rows) -> Rows:
        """Return the pairs of which both sides have a formula."""
        return pairs[(self._posts.formulas.counts[pairs] > 0).all(1)]

    def _score_pairs(
        self,
        sides: list[RaggedVectors[Tensor]],
        scoring: Scoring,
        is_negative: NDArray[np.bool_],
    ) -> Tensor:
        scores = score_batch(sides[0], sides[1], scoring)
        allowed = torch.from_numpy(is_negative).to(scores.device)
        return contrastive_loss(scores, allowed, self._config.objective)


def make_formula_encoder(config: ModelConfig, vocabulary: int) -> FormulaEncoder:
    """Return a formula encoder with new weights."""
    return FormulaEncoder(vocabulary, config.width, config.layers, config.heads)


def make_fusion(config: ModelConfig, context_width: int) -> GatedFusion:
    """Return a fusion with new weights."""
    return GatedFusion(context_width, config.width, config.heads, config.context_width)


def _validate(held_out: Rows, size: int, loss: LossOfPairs) -> dict[str, float]:
    """Return the mean loss of the pairs that are held out; nothing without any."""
    losses = []
    for start in range(0, len(held_out), size):
        pairs = held_out[start : start + size]
        if len(pairs) > 1:  # one pair has no negatives
            rng = np.random.default_rng((0, start))
            losses.append((len(pairs), float(loss(pairs, rng))))
    if not losses:
        return {}
    sizes, values = zip(*losses, strict=True)
    return {VALIDATION_LOSS: float(np.average(values, weights=sizes))}


def _list_rows(rows: RaggedVectors[Ids], numbers: Rows) -> Sequence[Ids]:
    """Return the ids of some rows; of none for -1."""
    ptr = rows.ptr
    return [rows.vectors[ptr[n] : ptr[n + 1]] if n >= 0 else rows.vectors[:0]
            for n in numbers.tolist()]  # fmt: skip


def _list_negatives(pairs: Rows) -> NDArray[np.bool_]:
    """(B, B) answers of other questions than one's own."""
    questions, answers = pairs.T
    other: NDArray[np.bool_] = questions[:, None] != questions
    return other & (answers[:, None] != answers)
