"""Scores as tables for Parquet and JSON, as a page and as a figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from mathamr_kedro.amr import describe_parser
from mathamr_kedro.base.figures import COLOURS, add_legend, draw_bars, make_figure
from mathamr_kedro.base.machines import Machine
from mathamr_kedro.datasets import RunEntry
from mathamr_kedro.evaluation.metrics import Evaluation, Group, Summary
from mathamr_kedro.evaluation.tables import Column, Figure, Row, Table
from mathamr_kedro.pipelines.evaluation.efficiency import TASK_COUNTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
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


class ScoredRun(NamedTuple):
    """A run of one topic set and what it is worth."""

    entry: RunEntry
    evaluation: Evaluation
    groups: tuple[Group, ...]
    """Means by kind of topic, if that is known."""

    @property
    def topic_set(self) -> tuple[int, str]:
        """Task and name of the topic set."""
        return self.entry.task, self.entry.topic_set


@dataclass(frozen=True)
class Scoreboard:
    """All scored runs of an evaluation, as tables, a page and a figure."""

    runs: Sequence[ScoredRun]

    def list_scores(self) -> DataFrame:
        """Return a row for each topic that counts and each measure."""
        import pandas as pd  # noqa: PLC0415 -- who searches need not wait for it

        rows = [
            (*_key(entry), topic, measure.name, float(evaluation.scores[row, column]))
            for entry, evaluation, _ in self.runs
            for row, topic in enumerate(evaluation.topics)
            for column, measure in enumerate(evaluation.measures)
            if evaluation.counted[row, column]
        ]
        return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)

    def list_metrics(self) -> list[dict[str, Any]]:
        """Return the mean of each measure with its floor and ceiling."""
        return [
            {
                **dict(zip(("task", "topic_set", "system"), _key(entry), strict=True)),
                "measure": name,
                "mean": summary.score,
                "floor": summary.floor,
                "ceiling": summary.ceiling,
                "topics": int(evaluation.counted[:, column].sum()),
            }
            for entry, evaluation, _ in self.runs
            for column, (name, summary) in enumerate(evaluation.summarise().items())
        ]

    def write_report(
        self,
        efficiency: Mapping[str, Any],
        amr_parser: Mapping[str, Any],
        unsearched: Sequence[tuple[str, str, str]] = (),
    ) -> str:
        """Return a Markdown page: a table for each topic set, and what is odd."""
        parts = ["# Evaluation\n", f"{describe_parser(amr_parser)}\n"]
        if not self.runs:
            parts.append("Nothing is judged: the runs are written, but not scored.\n")
        else:
            parts.append("![Scores by system](evaluation_figure.png)\n")
        ordered = sorted(self.runs, key=lambda run: run.topic_set)
        for (task, name), group in groupby(ordered, key=lambda run: run.topic_set):
            members = list(group)
            titles = _TITLES if members[0].evaluation.protocol.pooled else _PLAIN
            parts += [f"## {titles[task]}, {name}\n", _compare(members).to_markdown()]
            parts += _break_down(members)
            parts += _list_findings(members)
        if unsearched:
            parts.append("## Topics that were not searched\n\nThey count as 0.\n")
            parts += [f"- {t} ({who}): {reason}" for t, who, reason in unsearched]
            parts.append("")
        parts += ["## Efficiency\n", *_describe_efficiency(efficiency)]
        return "\n".join(parts)

    def draw(self) -> Picture:
        """Return bars for each topic set, with lines at the floor."""
        return _draw_scores(self.list_metrics())


def _key(entry: RunEntry) -> tuple[int, str, str]:
    return entry.task, entry.topic_set, entry.system


def _compare(runs: Sequence[ScoredRun]) -> Table:
    evaluation = runs[0].evaluation
    means, ranked = evaluation.summarise(), evaluation.protocol.candidates
    rows = [
        Row((f"*floor: {ranked} in random order*",), _figures(means, "floor")),
        *(
            Row((run.entry.system,), _figures(run.evaluation.summarise(), "score"))
            for run in runs
        ),
        Row(("*ceiling: ideal order*",), _figures(means, "ceiling")),
    ]
    counted = int(evaluation.counted.any(axis=1).sum())
    chosen = {
        "judged": "all judged topics",
        "relevant": "topics with a relevant document",
    }[evaluation.protocol.average]
    title = f"Mean over {counted} topics ({chosen}), depth {evaluation.protocol.depth}"
    return Table(title, ("System",), _columns(means), tuple(rows))


def _columns(names: Iterable[str]) -> tuple[Column, ...]:
    return tuple(Column(name, name, decimals=4) for name in names)


def _figures(means: Mapping[str, Summary], anchor: str) -> tuple[Figure, ...]:
    return tuple(Figure(getattr(summary, anchor)) for summary in means.values())


def _break_down(runs: Sequence[ScoredRun]) -> Iterator[str]:
    """Yield one table: a row for each kind of topic and system, few measures."""
    if not runs[0].groups:
        return
    names = list(runs[0].evaluation.summarise())[:_IN_GROUPS]
    rows = [
        Row(
            (f"{group.dimension}: {group.value}", str(group.num_topics), system),
            _figures({n: group.summaries[n] for n in names}, "score"),
        )
        for place in range(len(runs[0].groups))
        for system, group in ((r.entry.system, r.groups[place]) for r in runs)
    ]
    labels = ("Kind of topic", "Topics", "System")
    table = Table("By kind of topic", labels, _columns(names), tuple(rows))
    yield table.to_markdown()


def _list_findings(runs: Sequence[ScoredRun]) -> Iterator[str]:
    lines: dict[str, list[str]] = {}
    for run in runs:
        system = run.entry.system
        for finding in run.evaluation.findings:
            sign = "**!** " if finding.level == "warning" else ""
            examples = f" ({', '.join(finding.examples)})" if finding.examples else ""
            text = f"{sign}{finding.message}{examples}"
            lines.setdefault(text, []).append(system)
        if run.entry.ties:
            text = (
                f"{run.entry.ties:,} of {run.entry.results:,} results shared their "
                "score with another; the files separate them in the order of the system"
            )
            lines.setdefault(text, []).append(system)
    if lines:
        yield "Worth knowing:\n"
        for text, systems in lines.items():
            who = "all systems" if len(systems) == len(runs) else ", ".join(systems)
            yield f"- {who}: {text}"
        yield ""


def _describe_efficiency(efficiency: Mapping[str, Any]) -> Iterator[str]:
    training = efficiency["training"]
    for part in training.get("by_machine", [training]):
        if part["seconds_per_epoch"] is not None:
            machine = Machine.read(part["machine"])
            yield (
                f"- Training: {part['seconds_per_epoch']:.1f} s per epoch, at most "
                f"{part['peak_memory_mib']:,.0f} MiB ({machine.device or 'unknown'} "
                f"memory), on {machine.name} ({part['epochs']} epochs)."
            )
    parameters = training["parameters"]
    parts = ", ".join(f"{n} {c:,}" for n, c in parameters.items() if n != "total")
    yield f"- Parameters: {parameters['total']:,} ({parts})."
    yield from _describe_index(efficiency["index"])
    columns = (
        Column("queries", "Queries", 0),
        Column("seconds", "Seconds", 2),
        Column("queries_per_second", "Queries per second", 1),
    )
    rows = [
        Row(
            (str(row["task"]), row["system"], Machine.read(row["machine"]).name),
            tuple(Figure(row[c.key]) for c in columns),
        )
        for row in efficiency["search"]
    ]
    labels = ("Task", "System", "Machine")
    batches = {row["queries_per_batch"] for row in efficiency["search"]}
    title = f"Searches, {max(batches, default=1)} at once"
    yield Table(title, labels, columns, tuple(rows)).to_markdown()


def _describe_index(index: Mapping[str, Any]) -> Iterator[str]:
    """Yield the size of the index: the whole, and by task and type of post."""
    yield (
        f"- Index: {index['posts']:,} posts, {index['formulas']:,} formulas, "
        f"{index['vectors']:,} vectors of {index['width']} numbers; the engine "
        f"'{index['engine']}' takes {index['bytes'] / 2**20:,.1f} MiB "
        f"({index['bytes_from']}), built in {index['seconds']:.1f} s.\n"
    )
    columns = (
        Column("posts", "Posts", 0),
        Column("vectors", "Vectors", 0),
        Column("bytes", "MiB", 1, scale=1 / 2**20),
    )
    rows = []
    for task, (vectors, size) in TASK_COUNTS.items():
        whole = index["tasks"][task]
        for name in whole["post_types"]:
            found = index["post_types"][name]
            values = (found["posts"], found[vectors], found[size])
            rows.append(Row((task, name), tuple(map(Figure, values))))
        figures = tuple(Figure(whole[c.key]) for c in columns)
        rows.append(Row((task, "together"), figures))
    notes = ("MiB: computed as vectors × numbers × bytes; documents count twice.",)
    title = "Index by task"
    labels = ("Task", "Post type")
    yield Table(title, labels, columns, tuple(rows), notes).to_markdown()


def _draw_scores(metrics: Sequence[Mapping[str, Any]]) -> Picture:
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
