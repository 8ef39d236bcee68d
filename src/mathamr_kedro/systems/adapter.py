r"""A sentence encoder that learns a field: low-rank adapters (Hu et al. 2022).

::

    pairs of texts ──> batches of one kind ──> base model + A·B ──> InfoNCE
    (question, answer; statement, premise)

.. math::
    h = W x + \frac{\alpha}{r} B A x

with :math:`A \in R^{r \times k}` and :math:`B \in R^{d \times r}` for every linear
layer; B is 0 at the start, so that the base model, which is frozen, is what the
training starts from. The loss is InfoNCE in both directions (Eq. 3.6) on cosines of
texts. Teachers, if there are some, add the divergence of the distributions over the
texts of a batch that the mean of their cosines gives from those of the adapted model.

The weights are a few megabytes in the format of peft, which sentence-transformers
reads: ``adapter_config.json``, ``adapter_model.safetensors``. They are learnt from::

    prepared/pairs/
      collection.jsonl.gz   {"question": ..., "answer": ...}, of the environment
      KIND.jsonl.gz         of further files
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from mathamr_kedro.base.checksums import checksum, remove_checked_file
from mathamr_kedro.base.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.files import replace_file, replace_folder
from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.base.records import restore_latex
from mathamr_kedro.learning.distillation import compare_similarities
from mathamr_kedro.learning.loop import (
    VALIDATION_LOSS,
    ModuleLearner,
    Training,
    rise_and_fall,
)
from mathamr_kedro.model import current_compute, info_nce
from mathamr_kedro.systems.base import Collection, Epochs, Index, LearningSystem
from mathamr_kedro.systems.folds import hash_to_unit
from mathamr_kedro.systems.query import Target
from mathamr_kedro.systems.weights import autocast
from mathamr_kedro.text.models import find_text_model, name_base
from mathamr_kedro.text.sentence_encoder import load_model

if TYPE_CHECKING:
    from mathamr_kedro.systems.sentence import SentenceVectors

Rows: TypeAlias = NDArray[np.int64]

TextPair: TypeAlias = tuple[str, str]

_PAIRS, _SUFFIX = "pairs", ".jsonl.gz"
_COLLECTION = "collection"
_HELD_OUT = 0.02
"""Share of the questions that choose the best epoch."""
_MOST_HELD_OUT = 1024
"""Pairs of a kind that choose it: more say the same, and take longer."""
_SORTED_TOGETHER = 16
"""Batches whose texts are sorted by length, so that little is padding."""
_BASE, _TEACHERS, _TAUGHT = "base", "teachers", "taught"
_TEMPERATURE = 0.05
_MAX_TOKENS = 160
_WEIGHT_DECAY = 0.01
_CLIP_NORM = 1.0


@dataclass(frozen=True)
class ModelConfig:
    """What decides the weights."""

    base: str = "minilm"
    """Sentence encoder: a known name, or a folder."""
    pairs: Mapping[str, str] = field(default_factory=dict)
    """Further pairs of texts by kind, beside those of the collection: a file
    ``.jsonl`` or ``.jsonl.gz`` of records with ``question`` and ``answer``, or a
    folder of such files."""
    rank: int = 32
    epochs: int = 6
    steps: int = 100
    """Batches of an epoch."""
    batch_size: int = 256
    learning_rate: float = 4e-4
    teachers: tuple[str, ...] = ()
    """Sentence encoders whose mean similarities it also learns, so that it forgets
    less; by name or folder."""
    teacher_weight: float = 1.0
    """How much they count, beside what the pairs say."""

    def __post_init__(self) -> None:
        check_range(self, "teacher_weight", least=0)
        for name in ("rank", "epochs", "steps"):
            check_range(self, name, least=1)
        check_range(self, "batch_size", least=2)


@dataclass(frozen=True)
class AdapterConfig:
    """Parameters of ``systems.adapter``."""

    model: ModelConfig = field(default_factory=ModelConfig)


class Adapter(LearningSystem):
    """A sentence encoder with low-rank adapters, trained on pairs of texts."""

    Config: ClassVar[type] = AdapterConfig
    training_reads = ("posts", "pairs")
    name = "adapter"
    finds: frozenset[Target] = frozenset({"posts", "formulas"})
    index_reads = ("formulas", "posts")

    def __init__(self, config: AdapterConfig) -> None:
        self.config = config

    def prepare(self, data: Collection, folder: Path) -> Mapping[str, Any]:
        """Write pairs of texts, base model and teachers, these in half precision."""
        copy_models(self.config.model, folder)
        return write_pairs(data, self.config.model.pairs, folder)

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Train the adapters, or resume."""
        return train_adapter(prepared, folder, self.config.model, seed)

    def index(self, data: Collection, model: Path, folder: Path) -> Mapping[str, Any]:
        """Encode all texts and write their vectors."""
        return self._open(model).index(data, model, folder)

    def open(self, data: Collection, model: Path, folder: Path) -> Index:
        """Return the index, to be asked."""
        return self._open(model).open(data, model, folder)

    def _open(self, model: Path) -> SentenceVectors:
        # imported here: a machine that only trains has no index
        from mathamr_kedro.systems.sentence import SentenceVectors  # noqa: PLC0415

        return SentenceVectors(self.name, str(model))


def write_pairs(
    data: Collection, files: Mapping[str, str], folder: Path
) -> dict[str, int]:
    """Write the pairs of a collection and those of further files; return counts.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: a record has no question or no answer.
        ConfigurationError: there are no pairs at all.
    """
    (folder / _PAIRS).mkdir()
    counts = {_COLLECTION: _write(folder, _COLLECTION, _read_collection(data))}
    for kind, place in files.items():
        counts[kind] = _write(folder, kind, _read_files(Path(place), kind))
    if not any(counts.values()):
        raise ConfigurationError(
            "Expected pairs of texts to learn from (got none): the collection has no "
            "training pairs, and systems.adapter.model.pairs names no file"
        )
    return counts


def _write(folder: Path, kind: str, pairs: Iterable[TextPair]) -> int:
    count = 0
    path = folder / _PAIRS / f"{kind}{_SUFFIX}"
    with gzip.open(path, "wt", encoding="utf-8", errors="surrogatepass") as file:
        for question, answer in pairs:
            record = {"question": question, "answer": answer}
            file.write(json.dumps(record) + "\n")
            count += 1
    if not count:
        path.unlink()
    return count


def _read_collection(data: Collection) -> Iterator[TextPair]:
    pairs = list(data.pairs())
    wanted = {key for pair in pairs for key in pair}
    texts = {
        post.post_id: restore_latex(post.text, post.formula_map)
        for post in data.posts()
        if post.post_id in wanted
    }
    for pair in pairs:
        if texts.get(pair.question_id) and texts.get(pair.answer_id):
            yield texts[pair.question_id], texts[pair.answer_id]


def _read_files(place: Path, kind: str) -> Iterator[TextPair]:
    files = sorted(place.glob("*.jsonl*")) if place.is_dir() else [place]
    if not files or not files[0].is_file():
        raise MissingInputError(
            f"Expected pairs of texts at {str(place)!r} (there are none); "
            f"systems.adapter.model.pairs.{kind} names a file .jsonl or .jsonl.gz, or "
            "a folder of them"
        )
    for file in files:
        opened = gzip.open if file.suffix == ".gz" else open
        with opened(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    record = json.loads(line)
                    pair = str(record["question"]), str(record["answer"])
                except (ValueError, KeyError, TypeError) as exc:
                    raise MalformedInputError(
                        f"{str(file)!r}, line {number}: expected a record with "
                        f"'question' and 'answer' ({exc!r})"
                    ) from exc
                if all(pair):
                    yield pair


class Batch(NamedTuple):
    """Pairs of one kind."""

    questions: list[str]
    answers: list[str]
    rows: tuple[Rows, Rows]
    """Places of both sides among all texts."""
    excluded: NDArray[np.bool_]
    """(B, B) answers that are no negatives of a question: they belong to it by another
    pair (another answer, another premise of its proof), or say the same as it."""


class TextPairs:
    """Pairs of one kind, some of them held out; a text may occur in several pairs.

    >>> pairs = TextPairs([("a", "x"), ("a", "y"), ("b", "z")])
    >>> pairs.batch(np.arange(3)).excluded.astype(int).tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    """

    def __init__(self, pairs: Iterable[TextPair]) -> None:
        found = list(pairs)
        self.texts = list(dict.fromkeys(text for pair in found for text in pair))
        row_of = {text: row for row, text in enumerate(self.texts)}
        rows = [[row_of[text] for text in pair] for pair in found]
        self._rows = np.array(rows, dtype=np.int64).reshape(-1, 2)
        self._known = np.unique(self._key(*self._rows.T))
        held_out = {
            q: hash_to_unit(self.texts[q]) < _HELD_OUT for q in set(self._rows[:, 0])
        }
        is_held_out = np.array([held_out[q] for q in self._rows[:, 0]], dtype=np.bool_)
        self.train = np.flatnonzero(~is_held_out)
        self.held_out = np.flatnonzero(is_held_out)[:_MOST_HELD_OUT]

    @cached_property
    def lengths(self) -> Rows:
        """(P,) characters of each pair."""
        lengths = np.array([len(text) for text in self.texts], dtype=np.int64)
        return lengths[self._rows].sum(1)

    def batch(self, numbers: Rows) -> Batch:
        """Return some pairs as a batch."""
        questions, answers = self._rows[numbers].T
        keys = self._key(questions[:, None], answers)
        excluded = np.isin(keys, self._known) | (questions[:, None] == answers)
        np.fill_diagonal(excluded, val=False)
        return Batch(
            [self.texts[row] for row in questions],
            [self.texts[row] for row in answers],
            (questions, answers),
            excluded,
        )

    def cut(self, numbers: Rows, size: int) -> list[Rows]:
        """Cut pairs into batches, texts of one length together; one pair is none."""
        together = _SORTED_TOGETHER * size
        found = []
        for start in range(0, len(numbers), together):
            some = numbers[start : start + together]
            some = some[np.argsort(self.lengths[some], kind="stable")]
            found += [some[at : at + size] for at in range(0, len(some), size)]
        return [rows for rows in found if len(rows) > 1]

    def _key(self, questions: Rows, answers: Rows) -> Rows:
        return questions * len(self.texts) + answers


def load_pairs(prepared: Path) -> dict[str, TextPairs]:
    """Read what :func:`write_pairs` wrote, by kind."""
    found = sorted((prepared / _PAIRS).glob(f"*{_SUFFIX}"))
    return {
        path.name.removesuffix(_SUFFIX): TextPairs(_read_files(path, path.name))
        for path in found
    }


def draw_batches(
    kinds: Mapping[str, TextPairs], steps: int, size: int, rng: np.random.Generator
) -> list[tuple[str, Rows]]:
    """Draw about so many batches of all kinds, mixed.

    A kind has a share by the root of its number of pairs: large kinds do not drown
    small ones, and these are not learnt by heart.
    """
    roots = {kind: len(pairs.train) ** 0.5 for kind, pairs in kinds.items()}
    found: list[tuple[str, Rows]] = []
    for kind, pairs in kinds.items():
        wanted = size * max(1, round(steps * roots[kind] / sum(roots.values())))
        passes = -(-wanted // max(1, len(pairs.train)))
        order = [rng.permutation(pairs.train) for _ in range(passes)]
        drawn = np.concatenate(order)[:wanted]
        found += [(kind, rows) for rows in pairs.cut(drawn, size)]
    return [found[n] for n in rng.permutation(len(found))]


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
        with autocast(device):
            sides = [_encode(model, side) for side in (batch.questions, batch.answers)]
        scores = sides[0] @ sides[1].T
        excluded = torch.from_numpy(batch.excluded).to(device)
        loss = info_nce(scores, _TEMPERATURE, excluded, symmetric=True)
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
    remove_checked_file(checkpoint)
    return history


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
            with autocast(device):
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
    """Add adapters to all linear layers of a sentence encoder; return their weights."""
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


def _find_divergence(sides: Sequence[Tensor], said: Sequence[Tensor]) -> Tensor:
    """Return the mean divergence from the teachers over both directions."""
    found = sides[0] @ sides[1].T / _TEMPERATURE
    wanted = said[0].float() @ said[1].float().T / _TEMPERATURE
    every = torch.ones(len(found), dtype=torch.bool, device=found.device)
    there = compare_similarities(wanted, found, every, every)
    back = compare_similarities(wanted.T, found.T, every, every)
    return (there + back) / 2
