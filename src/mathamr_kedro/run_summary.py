r"""What a run of ``kedro run`` came to: counts or scores of its stages, reports, next.

::

    Done in 3 min 48 s
      ingestion      720 posts, 6,500 formulas, 244 training pairs; 0 records left out
      evaluation     nDCG' of Task 1, own: mathamr_plus 0.872, bm25 0.847
    Reports  data/demo/08_reporting: ingestion.md, evaluation.md
    Next     mathamr search 'is $\sqrt p$ irrational?' --env demo
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kedro.io import CatalogProtocol, DatasetError

from mathamr_kedro.base.formatting import count_nouns, format_duration, format_score
from mathamr_kedro.stages import STAGES

_QUERY = r"'is $\sqrt p$ irrational for a prime $p$?'"
_SHOWN = 3
"""Systems, or topic sets, that a line names."""


def summarise_run(
    catalog: CatalogProtocol,
    made: Collection[str],
    seconds: float,
    env: str | None,
    params: Mapping[str, Any],
) -> list[str]:
    """Return some lines about a run that ended well.

    Args:
        catalog: of the run.
        made: datasets that the run wrote.
        seconds: that it took.
        env: its environment.
        params: parameters over those of the environment (``kedro run --params``).
    """
    lines = [f"Done in {format_duration(seconds)}"]
    done = [stage for stage in STAGES if _SOURCES[stage][0] in made]
    for stage in done:
        lines += _put_beside(f"  {stage:<14}", _describe(catalog, stage))
    reports = [_SOURCES[stage][1] for stage in done]
    lines += _list_reports(catalog, [name for name in reports if name in made])
    lines += _put_beside(f"{'Next':<8}", _list_next(done, env, params))
    return lines


def _put_beside(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines with a title beside the first; none where there are none."""
    for number, line in enumerate(lines):
        yield f"{title if number == 0 else ' ' * len(title)} {line}"


def _describe(catalog: CatalogProtocol, stage: str) -> Iterator[str]:
    name, _, describe = _SOURCES[stage]
    try:
        values = catalog.load(name)
    except DatasetError:  # another process deleted it
        return
    yield from describe(values)


def _describe_ingestion(values: Mapping[str, Any]) -> Iterator[str]:
    left_out = sum(reason["left_out"] for reason in values["failures"].values())
    judgments = sum(file["judgments"] for file in values["judgments"].values())
    yield (
        f"{values['posts']['total']:,} posts, {values['formulas_in_texts']:,} formulas "
        f"in them, {sum(values['topics'].values()):,} topics, {judgments:,} judgments, "
        f"{values['training_pairs']:,} training pairs; "
        f"{count_nouns(left_out, 'record')} left out"
    )


def _describe_parsing(values: Mapping[str, Any]) -> Iterator[str]:
    parts = [
        f"{values[part]['graphs']:,} of {values[part]['processed']:,} {part}"
        for part in ("posts", "topics")
    ]
    failed = sum(values[part]["failed"] for part in ("posts", "topics"))
    parser = values["parser"]["parser"]
    yield f"AMR graphs of {' and '.join(parts)} ({parser}); {failed:,} failed"


def _describe_fusion(values: Mapping[str, Any]) -> Iterator[str]:
    nodes = values["all"].get("nodes_per_graph") or 0
    yield (
        f"{values['graphs']:,} math graphs of {nodes:,.0f} nodes; "
        f"{count_nouns(values['failed_posts'], 'post')} without"
    )


def _describe_preprocessing(values: Mapping[str, Any]) -> Iterator[str]:
    alone = values["comments"] + values["formulas"]
    yield (
        f"{values['posts']:,} posts, {values['topics']:,} topics, {alone:,} others as "
        f"arrays; {values['train_pairs']:,} + {values['validation_pairs']:,} pairs; "
        f"{values['failed']:,} failed"
    )


def _describe_training(values: Mapping[str, Any]) -> Iterator[str]:
    if values["best_loss"] is None:
        yield f"nothing trained: the released encoder {values['start_from']!r} as it is"
        return
    start = f", from {values['start_from']!r}" if values["start_from"] else ""
    yield (
        f"{values['training_pairs']:,} pairs{start}; best after epoch "
        f"{values['best_epoch']}, loss {format_score(values['best_loss'])}"
    )


def _describe_indexing(values: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"{values['vectors']:,} vectors of {values['posts']:,} posts, and "
        f"{values['formulas']:,} formulas (engine {values['engine']!r})"
    )


def _describe_evaluation(metrics: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each task: the best systems, or the best one of each set."""
    if not metrics:
        yield "no topic has judgments, so there are no scores"
    for task in dict.fromkeys(m["task"] for m in metrics):
        measure = next(m["measure"] for m in metrics if m["task"] == task)
        chosen = [m for m in metrics if (m["task"], m["measure"]) == (task, measure)]
        chosen.sort(key=lambda m: -m["mean"])
        sets = {m["topic_set"]: m for m in reversed(chosen)}
        if len(sets) == 1:
            where = f", {chosen[0]['topic_set']}, {chosen[0]['topics']} topics"
            named = [f"{m['system']} {format_score(m['mean'], 3)}" for m in chosen]
        else:
            where = ", best system of each topic set"
            named = [
                f"{name} {format_score(m['mean'], 3)} ({m['system']})"
                for name, m in sorted(sets.items())
            ]
        yield f"{measure} of Task {task}{where}: {', '.join(named[:_SHOWN])}"


def _describe_significance(values: Mapping[str, Any]) -> Iterator[str]:
    tests = [test for found in values["tests"].values() for test in found]
    significant = sum(test["significant"] for test in tests)
    cells = f" from {len(values['cells'])} cells" if values["cells"] else ""
    yield (
        f"{count_nouns(len(values['tables']), 'table')} of {values['experiment']!r}"
        f"{cells}; {significant} of {len(tests)} differences are significant"
    )


_SOURCES: dict[str, tuple[str, str, Callable[[Any], Iterator[str]]]] = {
    "ingestion": ("ingestion_statistics", "ingestion_report", _describe_ingestion),
    "amr_parsing": ("amr_statistics", "amr_report", _describe_parsing),
    "graph_fusion": ("math_graph_statistics", "math_graph_report", _describe_fusion),
    "preprocessing": (
        "preprocessing_statistics",
        "preprocessing_report",
        _describe_preprocessing,
    ),
    "training": ("encoder", "training_report", _describe_training),
    "indexing": ("index", "", _describe_indexing),
    "evaluation": ("metrics", "evaluation_report", _describe_evaluation),
    "significance": (
        "experiment_result",
        "significance_report",
        _describe_significance,
    ),
}
"""Of each stage: what it counted, its report, and how to say it in a line."""


def _list_reports(catalog: CatalogProtocol, names: Sequence[str]) -> Iterator[str]:
    paths = [Path(str(catalog[name]._describe()["filepath"])) for name in names]
    if not paths:
        return
    folder = Path(os.path.commonpath([path.parent for path in paths]))
    inside = ", ".join(str(path.relative_to(folder)) for path in paths)
    here = Path.cwd()
    shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
    yield f"Reports  {shown}: {inside}"


def _list_next(
    done: Sequence[str], env: str | None, params: Mapping[str, Any]
) -> Iterator[str]:
    """Yield commands that go on, for the same environment and data."""
    last = done[-1] if done else None
    place = f" --env {env}" if env else ""
    if last == STAGES[-1]:
        if params.get("data_root"):
            place += f" --data-root {params['data_root']}"
        yield f"mathamr summary{place}"
        yield f"mathamr search {_QUERY}{place}"
    elif last is not None:
        given = ",".join(f"{key}={value}" for key, value in _list_leaves(params, ""))
        place += f" --params {given}" if given else ""
        following = STAGES[STAGES.index(last) + 1]
        yield f"kedro run{place} --pipelines {following}"


def _list_leaves(values: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(values, Mapping):
        for key, value in values.items():
            yield from _list_leaves(value, f"{place}.{key}" if place else str(key))
    else:
        yield place, values
