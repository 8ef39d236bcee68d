"""Training the encoder, and encoding with it; needs torch and numpy alone.

::

    pairs = TrainingPairs.read(Path("pairs.json"), shards)
    result = train_in_rounds(shards, pairs, TrainingConfig(), Path("out"))
    for posts in encode_shards(load_model(result.model_dir), shards): ...

What is inside::

    before     pairs  negatives  term_negatives  single_formulas  formula_graphs
               node_vectors, teacher_vectors (files that a training needs)
    learning   rounds ─> trainer ─> loop (of every system)
               steps/ ─> losses ─> maxsim, triton_maxsim
               inputs (what is given)   config   augmentation   processes   validation
               distillation, pattern_teacher, formula_symbols (teachers)
    after      checkpoints  history  releasing  card  encoding
"""

from mathamr_kedro.learning.card import Provenance
from mathamr_kedro.learning.config import TrainingConfig
from mathamr_kedro.learning.encoding import encode_shards
from mathamr_kedro.learning.formula_symbols import FormulaSymbols
from mathamr_kedro.learning.loop import Learner, ModuleLearner, Training
from mathamr_kedro.learning.negatives import NegativesConfig, group_pairs
from mathamr_kedro.learning.node_vectors import NodeVectorsConfig, build_node_vectors
from mathamr_kedro.learning.pairs import Positions, TrainingPairs
from mathamr_kedro.learning.releasing import (
    find_model,
    has_same_weights,
    release_encoder,
)
from mathamr_kedro.learning.rounds import train_in_rounds
from mathamr_kedro.learning.teacher_vectors import write_document_vectors
from mathamr_kedro.learning.term_negatives import TermMiner
from mathamr_kedro.learning.trainer import MODEL, TrainingResult, train

__all__ = [
    "MODEL",
    "FormulaSymbols",
    "Learner",
    "ModuleLearner",
    "NegativesConfig",
    "NodeVectorsConfig",
    "Positions",
    "Provenance",
    "TermMiner",
    "Training",
    "TrainingConfig",
    "TrainingPairs",
    "TrainingResult",
    "build_node_vectors",
    "encode_shards",
    "find_model",
    "group_pairs",
    "has_same_weights",
    "release_encoder",
    "train",
    "train_in_rounds",
    "write_document_vectors",
]
