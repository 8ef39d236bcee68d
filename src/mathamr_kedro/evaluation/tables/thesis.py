"""Rows and columns of the thesis' result tables (chapter 4), in its order.

A reader with the thesis open beside a report finds the same rows, columns and order.
Keys of :data:`LAYOUTS` are the numbers of the tables; ``rows`` name the conditions of
the experiments.
"""

from __future__ import annotations

from collections.abc import Mapping

from mathamr_kedro.evaluation.stats.significance import QUERY_SECONDS
from mathamr_kedro.evaluation.tables.scores import Layout, SeedResult
from mathamr_kedro.evaluation.tables.table import (
    Column,
    Figure,
    Labels,
    Table,
    Values,
    format_figure,
    list_columns,
)

NDCG = Column("nDCG'", "nDCG'")
MAP = Column("MAP'", "MAP'")
P10 = Column("P'@10", "P'@10")
BPREF = Column("Bpref", "Bpref")
EFFECTIVENESS = (NDCG, MAP, P10, BPREF)
QPS = Column("QPS", "QPS", decimals=1, tested=QUERY_SECONDS)

_FORMULA_MODES = {
    "both": "Both (OPT+SLT)",
    "opt": "OPT-only",
    "slt": "SLT-only",
    "none": "None",
}
_STRUCTURES = {
    "full_hierarchy": ("Full hierarchy", "MaxSim"),
    "no_virtual_nodes": ("No VNs", "MaxSim"),
    "global_maxsim": ("Global VN", "MaxSim"),
    "global_single_vector": ("Global VN", "Single-vector"),
}
_CONNECTIVITY = {
    "none": "None",
    "sequential": "Sequential",
    "circular": "Circular",
    "fully_connected": "Fully Connected",
}
_INITIALISATIONS = {
    "zero": ("Zero", "None"),
    "zero_embedding": ("Zero", "Embedding"),
    "random_embedding": ("Random", "Embedding"),
    "mean": ("Mean-pooled", "None"),
    "mean_projection": ("Mean-pooled", "Projection"),
    "mean_typed_projection": ("Mean-pooled", "Typed Proj."),
}
_STRATEGIES_HNSW = {
    "maxsim_hnsw": "ColBERT MaxSim (ef = 128)",
    "two_stage_5000_hnsw": "Doc-VN + MaxSim (k = 5000)",
    "two_stage_1000_hnsw": "Doc-VN + MaxSim (k = 1000)",
    "single_vector_hnsw": "Single-Vector",
}
_STRATEGIES = {
    "maxsim_exact": "ColBERT MaxSim•",
    "maxsim_hnsw": "ColBERT MaxSim◦",
    "two_stage_5000_exact": "Doc-VN + MaxSim• (k = 5000)",
    "two_stage_5000_hnsw": "Doc-VN + MaxSim◦ (k = 5000)",
    "two_stage_1000_exact": "Doc-VN + MaxSim• (k = 1000)",
    "two_stage_1000_hnsw": "Doc-VN + MaxSim◦ (k = 1000)",
    "single_vector_exact": "Single-Vector•",
    "single_vector_hnsw": "Single-Vector◦",
}
_LOSS_WEIGHTS = {
    "beta_1": "β = 1",
    "beta_0.7": "β = 0.7",
    "beta_0.5": "β = 0.5",
    "beta_0.3": "β = 0.3",
    "beta_0": "β = 0",
}
_SECONDS = Column("seconds_per_epoch", "Time/Epoch (s)", decimals=1)
_MINUTES = Column("seconds_per_epoch", "Time/Epoch (min)", scale=1 / 60)
_PARAMETERS = Column("parameters", "Params", show_std=False, scale=1e-6, unit="M")
_INDEX = Column("index_megabytes", "Index Size (MB)", decimals=1, show_std=False)

_INDEX_NOTE = (
    "Index size: vectors × dimensions × bytes of what Task 1 may return, in the spaces "
    "all and doc."
)


def _memory(decimals: int) -> Column:
    return Column("memory_gigabytes", "{device} Mem (GB)", decimals=decimals)


def _by_strategy() -> tuple[Column, ...]:
    strategies = {
        "maxsim_hnsw": "ColBERT MaxSim",
        "two_stage_1000_hnsw": "Doc-VN + MaxSim",
        "single_vector_hnsw": "Single-Vector",
    }
    return tuple(
        Column(f"{strategy}:{measure.key}", measure.title, group=title)
        for strategy, title in strategies.items()
        for measure in (NDCG, P10)
    )


LAYOUTS: dict[str, Layout] = {
    "4.6": Layout(
        "Table 4.6: Answer retrieval by formula mode, best seed",
        ("Formula Mode",), _FORMULA_MODES, EFFECTIVENESS, baseline="none",
    ),
    "4.7": Layout(
        "Table 4.7: Answer retrieval by formula mode, mean ± std over seeds",
        ("Formula Mode",), _FORMULA_MODES, EFFECTIVENESS,
    ),
    "4.8": Layout(
        "Table 4.8: Efficiency by formula mode",
        ("Formula Mode",), _FORMULA_MODES, (_SECONDS, _memory(1), _INDEX),
        notes=(_INDEX_NOTE,),
    ),
    "4.9": Layout(
        "Table 4.9: Answer retrieval by virtual node structure, best seed",
        ("VN Structure", "Retrieval"), _STRUCTURES, EFFECTIVENESS,
        baseline="full_hierarchy",
    ),
    "4.10": Layout(
        "Table 4.10: Answer retrieval by auxiliary edges, best seed",
        ("Aux. Edges",), _CONNECTIVITY, EFFECTIVENESS, baseline="none",
    ),
    "4.11": Layout(
        "Table 4.11: Answer retrieval by auxiliary edges, mean ± std over seeds",
        ("Aux. Edges",), _CONNECTIVITY, EFFECTIVENESS,
    ),
    "4.12": Layout(
        "Table 4.12: Efficiency by auxiliary edges",
        ("Structure",), _CONNECTIVITY, (_MINUTES, _memory(3)),
    ),
    "4.13": Layout(
        "Table 4.13: Answer retrieval by initialisation of virtual nodes, "
        "mean ± std over seeds",
        ("Init Value", "Learned"), _INITIALISATIONS, EFFECTIVENESS, baseline="zero",
    ),
    "4.14": Layout(
        "Table 4.14: Efficiency by initialisation of virtual nodes",
        ("Init Value", "Learned"), _INITIALISATIONS,
        (Column("seconds_per_epoch", "Time/Epoch (s)"), _PARAMETERS),
    ),
    "4.15": Layout(
        "Table 4.15: Answer retrieval and throughput by strategy (HNSW), best seed",
        ("Retrieval Strategy",), _STRATEGIES_HNSW, (*EFFECTIVENESS, QPS),
        baseline="maxsim_hnsw", same_seed=True,
        notes=("QPS = queries per second, tested on the time of each query.",),
    ),
    "4.16": Layout(
        "Table 4.16: Answer retrieval and throughput by strategy, "
        "mean ± std over seeds",
        ("Retrieval Strategy",), _STRATEGIES, (*EFFECTIVENESS, QPS),
        notes=(
            "• exact search, ◦ HNSW search. QPS = queries per second.",
            "ColBERT MaxSim◦: each vector of a query walks by itself, the union is "
            "scored (thesis 3.5.2).",
        ),
    ),
    "4.17": Layout(
        "Table 4.17: Auxiliary document-level loss by retrieval strategy (HNSW), "
        "best seed",
        ("Loss weight",), _LOSS_WEIGHTS, _by_strategy(), baseline="beta_1",
        select_by="maxsim_hnsw:nDCG'",
    ),
}  # fmt: skip
"""Best-seed tables have a baseline and no ± in their title; the others hold means."""

_System = tuple[str, float, float, float, float | None]
_TASK1: tuple[_System, ...] = (
    ("Approach0 / Struct.+ColBERT (Coco-MAE)", 0.546, 0.237, 0.360, 0.221),
    ("Kassaie et al. / RRF+LLM", 0.522, 0.195, 0.277, None),
    ("MSM / Ensemble RRF", 0.504, 0.157, 0.241, 0.138),
    ("MIRMU / MiniLM+RoBERTa", 0.498, 0.184, 0.267, 0.169),
    ("Satpute et al. / GPT-4+DPR", 0.486, 0.219, 0.374, 0.225),
    ("DPRL / QQ-QA-AMR", 0.185, 0.040, 0.091, None),
    ("Thesis / MathAMR+", 0.334, 0.108, 0.236, 0.163),
)
_TASK2: tuple[_System, ...] = (
    ("L2L / All (Unweighted)", 0.849, 0.620, 0.680, None),
    ("Amador et al. / Inner RRF (unofficial)", 0.773, 0.554, 0.632, None),
    ("Approach0 / Struct.+ColBERT", 0.720, 0.568, 0.688, 0.560),
    ("Amador et al. / In+Out", 0.701, 0.505, 0.597, None),
    ("DPRL / TanCFT+MathAMR", 0.681, 0.471, 0.617, None),
    ("MathDowers / latex_L8_a040", 0.640, 0.451, 0.549, 0.443),
    ("DPRL / MathAMR (unofficial)", 0.579, 0.367, 0.549, None),
    ("DPRL / MathAMR", 0.316, 0.160, 0.253, None),
    ("Thesis / MathAMR+", 0.507, 0.333, 0.588, 0.503),
)
_PUBLISHED = {
    "4.19": ("Answer retrieval (Task 1)", _TASK1),
    "4.21": ("Formula retrieval (Task 2)", _TASK2),
}


EFFICIENCY: dict[str, tuple[str, tuple[Column, ...]]] = {
    "4.20": (
        "Table 4.20: Efficiency, Task 1",
        (
            Column("minutes_per_epoch", "Training time", 1, unit=" min/epoch"),
            Column("memory_gigabytes", "{device} peak memory", 2, unit=" GB"),
            Column("parameters", "Model parameters", 0),
            Column("index_gigabytes", "Index size", 2, unit=" GB"),
            Column("vectors", "Number of vectors", 0),
            Column("QPS", "Query throughput", 2, unit=" queries/sec"),
        ),
    ),
    "4.22": (
        "Table 4.22: Efficiency, Task 2",
        (
            Column("formulas", "Number of indexed formulas", 0),
            Column("QPS", "Query throughput", 2, unit=" queries/sec"),
        ),
    ),
}
"""What is a column elsewhere is a row of these."""


def benchmark_table(number: str, ours: Mapping[str, SeedResult]) -> Table:
    """Return Table 4.19 (task 1) or 4.21 (task 2): published systems, then ours."""
    title, published = _PUBLISHED[number]
    keys = [column.key for column in EFFECTIVENESS]
    rows: dict[Labels, Values] = {
        name: dict(zip(keys, values, strict=True)) for name, *values in published
    }
    rows |= {f"Ours / {name}": own.values for name, own in ours.items()}
    title = f"Table {number}: {title}, ARQMath-3"
    return Table(title, ("System",), EFFECTIVENESS, rows)


def efficiency_table(
    number: str,
    values: Mapping[str, float],
    device: str = "",
    notes: tuple[str, ...] = (),
) -> Table:
    """Return Table 4.20 or 4.22.

    Args:
        number: ``"4.20"`` (task 1) or ``"4.22"`` (task 2).
        values: figures by the keys of :data:`EFFICIENCY`; others may be absent.
        device: whose memory it is, ``CPU`` or ``GPU``.
        notes: below the table.

    >>> efficiency_table("4.22", {"formulas": 21515119}).rows
    {'Number of indexed formulas': {'Value': '21,515,119'}, \
'Query throughput': {'Value': None}}
    """
    title, lines = EFFICIENCY[number]
    shown = {
        line: format_figure(Figure(values[line.key]), line)
        for line in lines
        if line.key in values
    }
    rows = {
        line.title.replace("{device}", device).strip(): {"Value": shown.get(line)}
        for line in lines
    }
    return Table(title, ("Metric",), list_columns(["Value"]), rows, notes)
