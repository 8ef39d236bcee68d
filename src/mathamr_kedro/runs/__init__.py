"""Systems and their runs: topics in, ranked lists out.

```
topic_search   topics by vectors: batches, time             ──┐
mixtures       posts by MaxSim and more, with their questions │
baselines      BM25 and sentence encoders as systems          ├─► Run (trec)
query_checks   queries that show nothing, or find themselves │
fusion         several runs fused into one, with given or      │     │
  fold_weights   cross-validated weights                      │     │
given_runs     run files of others; names of NTCIR-12       ──┘     │
post_search, formula_search   the same systems for one question     │
topic_sets     topics with their judgments, edition by edition ─────┴─► metrics
benchmark_folder  all of it in the form of BEIR, for other people's tools
```
"""

from mathamr_kedro.runs.baselines import (
    FORMULA_SYSTEMS,
    POST_SYSTEMS,
    TASK_1_TYPES,
    FormulaSystem,
    PostSources,
    PostSystem,
    build_formula_ranker,
    build_post_ranker,
    name_text_model,
)
from mathamr_kedro.runs.benchmark_folder import BenchmarkFolder
from mathamr_kedro.runs.fold_weights import fuse_by_folds
from mathamr_kedro.runs.formula_search import FormulaSearch
from mathamr_kedro.runs.fusion import NamedFusion, add_fusions, fuse_as_given
from mathamr_kedro.runs.given_runs import name_judged_formulas, read_given_runs
from mathamr_kedro.runs.mixtures import Questions, find_questions, search_posts
from mathamr_kedro.runs.named_strategies import NamedStrategy
from mathamr_kedro.runs.post_search import PostSearch
from mathamr_kedro.runs.query_checks import (
    find_blank_queries,
    leave_out_queries,
    list_unsearched,
)
from mathamr_kedro.runs.topic_search import Queries, run_search
from mathamr_kedro.runs.topic_sets import TASK_OF, TASKS, TopicSet, list_topic_sets
from mathamr_kedro.search.fusion import Fusion, fuse_runs

__all__ = [
    "FORMULA_SYSTEMS",
    "POST_SYSTEMS",
    "TASKS",
    "TASK_1_TYPES",
    "TASK_OF",
    "BenchmarkFolder",
    "FormulaSearch",
    "FormulaSystem",
    "Fusion",
    "NamedFusion",
    "NamedStrategy",
    "PostSearch",
    "PostSources",
    "PostSystem",
    "Queries",
    "Questions",
    "TopicSet",
    "add_fusions",
    "build_formula_ranker",
    "build_post_ranker",
    "find_blank_queries",
    "find_questions",
    "fuse_as_given",
    "fuse_by_folds",
    "fuse_runs",
    "leave_out_queries",
    "list_topic_sets",
    "list_unsearched",
    "name_judged_formulas",
    "name_text_model",
    "read_given_runs",
    "run_search",
    "search_posts",
]
