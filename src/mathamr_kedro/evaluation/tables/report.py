"""The page of an evaluation: scores by topic set, kind of topic, and what is odd."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from mathamr_kedro.base.figures import COLOURS, add_legend, draw_bars, make_figure
from mathamr_kedro.evaluation.metrics import Evaluation, Group, Summary
from mathamr_kedro.evaluation.tables.costs import describe_efficiency
from mathamr_kedro.evaluation.tables.table import Table, list_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
else:
    DataFrame = object  # Kedro looks the types of nodes up: it need not wait for pandas

_COLUMNS = {
    "task": "int64", "topic_set": "str", "system": "str", "topic_id": "str",
    "measure": "str", "score": "float64",
}  # fmt: skip
"""Of the table of scores."""

_IN_GROUPS = 4
"""Measures in the tables by kind of topic: the first ones."""
_DRAWN = 2
"""Measures in the figure: the first ones, nDCG' and MAP' by default."""
_TITLES = {1: "Task 1: answers", 2: "Task 2: formulas"}
_PLAIN = {1: "Documents", 2: "Formulas"}
_AVERAGED = {
    "judged": "all judged topics",
    "relevant": "topics with a relevant document",
}


class ScoredRun(NamedTuple):
    """A run of one topic set and what it is worth."""

    task: int
    topic_set: str
    system: str
    evaluation: Evaluation
    groups: tuple[Group, ...]
    """Means by kind of topic, if that is known."""
    results: int
    ties: int
    """Results that shared their score with another."""


@dataclass(frozen=True)
class Scoreboard:
    """All scored runs of an evaluation, as tables, a page and a figure."""

    runs: Sequence[ScoredRun]

    def list_scores(self) -> DataFrame:
        """Return a row for each topic that counts and each measure."""
        import pandas as pd  # noqa: PLC0415 -- who searches need not wait for it

        rows = [
            (*run[:3], topic, measure.name, float(run.evaluation.scores[row, column]))
            for run in self.runs
            for row, topic in enumerate(run.evaluation.topics)
            for column, measure in enumerate(run.evaluation.measures)
            if run.evaluation.counted[row, column]
        ]
        return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)

    def list_metrics(self) -> list[dict[str, Any]]:
        """Return the mean of each measure with its floor and ceiling."""
        return [
            {
                "task": run.task,
                "topic_set": run.topic_set,
                "system": run.system,
                "measure": name,
                "mean": summary.score,
                "floor": summary.floor,
                "ceiling": summary.ceiling,
                "topics": int(run.evaluation.counted[:, column].sum()),
            }
            for run in self.runs
            for column, (name, summary) in enumerate(run.evaluation.summarise().items())
        ]

    def write_report(
        self,
        efficiency: Mapping[str, Any],
        note: str,
        unsearched: Sequence[tuple[str, str, str]] = (),
    ) -> str:
        """Return a Markdown page: a table for each topic set, and what is odd.

        Args:
            efficiency: what training, index and searches cost.
            note: below the title.
            unsearched: topics that were not searched, by whom, and why.
        """
        parts = ["# Evaluation\n", f"{note}\n"]
        if not self.runs:
            parts.append("Nothing is judged: the runs are written, but not scored.\n")
        else:
            parts.append("![Scores by system](evaluation_figure.png)\n")
        ordered = sorted(self.runs, key=lambda run: run[:2])
        for (task, name), group in groupby(ordered, key=lambda run: run[:2]):
            members = list(group)
            titles = _TITLES if members[0].evaluation.protocol.pooled else _PLAIN
            parts += [f"## {titles[task]}, {name}\n", _compare(members).to_markdown()]
            if members[0].groups:
                parts.append(_break_down(members).to_markdown())
            parts += _list_findings(members)
        if unsearched:
            parts.append("## Topics that were not searched\n\nThey count as 0.\n")
            parts += [f"- {t} ({who}): {reason}" for t, who, reason in unsearched]
            parts.append("")
        parts += ["## Efficiency\n", *describe_efficiency(efficiency)]
        return "\n".join(parts)

    def draw(self) -> Figure:
        """Return bars for each topic set but its parts, with lines at the floor."""
        whole = [m for m in self.list_metrics() if "/" not in m["topic_set"]]
        return _draw_scores(whole)


def _compare(runs: Sequence[ScoredRun]) -> Table:
    evaluation = runs[0].evaluation
    means, protocol = evaluation.summarise(), evaluation.protocol
    counted = int(evaluation.counted.any(axis=1).sum())
    rows = {
        f"*floor: {protocol.candidates} in random order*": _pick(means, "floor"),
        **{r.system: _pick(r.evaluation.summarise(), "score") for r in runs},
        "*ceiling: ideal order*": _pick(means, "ceiling"),
    }
    averaged = _AVERAGED[protocol.average]
    title = f"Mean over {counted} topics ({averaged}), depth {protocol.depth}"
    return Table(title, ("System",), list_columns(means, decimals=4), rows)


def _pick(means: Mapping[str, Summary], bound: str) -> dict[str, float]:
    return {name: getattr(summary, bound) for name, summary in means.items()}


def _break_down(runs: Sequence[ScoredRun]) -> Table:
    """Return a row for each kind of topic and system, of few measures."""
    rows = {
        (f"{group.dimension}: {group.value}", str(group.num_topics), run.system): _pick(
            group.summaries, "score"
        )
        for same in zip(*(run.groups for run in runs), strict=True)
        for run, group in zip(runs, same, strict=True)
    }
    columns = list_columns(runs[0].evaluation.summarise(), decimals=4)[:_IN_GROUPS]
    labels = ("Kind of topic", "Topics", "System")
    return Table("By kind of topic", labels, columns, rows)


def _list_findings(runs: Sequence[ScoredRun]) -> Iterator[str]:
    lines: dict[str, list[str]] = {}
    for run in runs:
        for finding in run.evaluation.findings:
            sign = "**!** " if finding.level == "warning" else ""
            lines.setdefault(f"{sign}{finding}", []).append(run.system)
        if run.ties:
            text = (
                f"{run.ties:,} of {run.results:,} results shared their score with "
                "another; the files separate them in the order of the system"
            )
            lines.setdefault(text, []).append(run.system)
    if lines:
        yield "Worth knowing:\n"
        for text, systems in lines.items():
            who = "all systems" if len(systems) == len(runs) else ", ".join(systems)
            yield f"- {who}: {text}"
        yield ""


def _draw_scores(metrics: Sequence[Mapping[str, Any]]) -> Figure:
    """Return bars of all systems, a panel for each topic set, with their floors."""
    sets = list(dict.fromkeys((m["task"], m["topic_set"]) for m in metrics))
    measures = list(dict.fromkeys(m["measure"] for m in metrics))[:_DRAWN]
    figure, panels = make_figure("Scores by system", max(len(sets), 1))
    for axes, (task, name) in zip(panels, sets, strict=False):
        shown = [m for m in metrics if (m["task"], m["topic_set"]) == (task, name)]
        found = {n: [m for m in shown if m["measure"] == n] for n in measures}
        means = {n: [m["mean"] for m in rows] for n, rows in found.items()}
        draw_bars(axes, [m["system"] for m in found[measures[0]]], means)
        for (measure, rows), colour in zip(found.items(), COLOURS, strict=False):
            floor = rows[0]["floor"]
            axes.axhline(floor, color=colour, linestyle=":", linewidth=1.2)
            axes.annotate(
                f"floor {measure}", (1.0, floor), (4, 0), fontsize=8, va="center",
                xycoords=("axes fraction", "data"), textcoords="offset points",
                color=colour, annotation_clip=False,
            )  # fmt: skip
        axes.set_title(f"Task {task}, {name}", parse_math=False)
        axes.set_ylim(0, 1)
    add_legend(figure)
    return figure
