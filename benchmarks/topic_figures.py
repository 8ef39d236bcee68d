"""Bars of what each topic gains or loses by one system against another.

kedro run --env pool
python -m benchmarks.topic_figures --pairs A.65:1006071 A.79:2906924
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

COMPARED = {1: ("mathamr_plus/with_question", "bm25"), 2: ("mathamr_plus", "bm25")}
MEASURE = "nDCG'"


def read_scores(data_root: Path) -> pd.DataFrame:
    """Read the scores of the newest evaluation, a column for each system."""
    versions = sorted((data_root / "07_model_output/scores.parquet").iterdir())
    scores = pd.read_parquet(versions[-1])
    chosen = scores[scores["measure"] == MEASURE]
    return chosen.pivot_table(
        index=["task", "topic_set", "topic_id"], columns="system", values="score"
    )


def draw_differences(scores: pd.DataFrame, out: Path) -> None:
    """Draw a picture for each task and topic set, and name its ends."""
    out.mkdir(parents=True, exist_ok=True)
    for (task, topic_set), rows in scores.groupby(level=["task", "topic_set"]):
        ours, theirs = COMPARED[task]
        gains = (rows[ours] - rows[theirs]).dropna().sort_values()
        names = gains.index.get_level_values("topic_id")
        print(f"task {task}, {topic_set}: {(gains > 0).sum()} won, "
              f"{(gains < 0).sum()} lost, mean {gains.mean():+.3f}")  # fmt: skip
        print(
            "  lost", [(n, round(g, 2)) for n, g in zip(names, gains, strict=True)][:5]
        )
        print(
            "  won ", [(n, round(g, 2)) for n, g in zip(names, gains, strict=True)][-5:]
        )
        figure = Figure(figsize=(9, 2.6), layout="constrained")
        axes = figure.add_subplot()
        colours = ["#c8553d" if g < 0 else "#3b6ea8" for g in gains]
        axes.bar(range(len(gains)), gains, color=colours, width=0.8)
        axes.set_xticks(range(len(gains)), names, rotation=90, fontsize=5)
        axes.set_ylabel(f"{MEASURE}: {ours.split('/')[0]} - {theirs}", fontsize=7)
        axes.set_title(f"Task {task}, {topic_set}", fontsize=9)
        axes.margins(x=0.01)
        path = out / f"topics_task{task}_{str(topic_set).lower()}.png"
        FigureCanvasAgg(figure).print_png(str(path))


def draw_pairs(env: str, pairs: list[str], out: Path) -> None:
    """Draw the similarities of topics and answers side by side."""
    project = Path(__file__).parents[1]
    bootstrap_project(project)
    with KedroSession.create(project_path=project, env=env) as session:
        catalog = session.load_context().catalog
        stores = catalog.load("mathamr_plus.index").vectors
    figure = Figure(figsize=(9, 2.4 * -(-len(pairs) // 3)), layout="constrained")
    for place, pair in enumerate(pairs, start=1):
        topic, answer = (
            next(iter(store.read([key]).entries()))
            for store, key in zip(stores, pair.split(":"), strict=True)
        )
        similar = np.asarray(topic.vectors) @ np.asarray(answer.vectors).T
        axes = figure.add_subplot(-(-len(pairs) // 3), 3, place)
        axes.imshow(similar, vmin=0, vmax=1, cmap="Blues", aspect="auto")
        axes.plot(similar.argmax(1), range(len(similar)), ".", ms=3, color="#c8553d")
        for axis, post in ((axes.yaxis, topic), (axes.xaxis, answer)):
            axis.set_ticks(range(len(post.kinds)), ["FSD"[k] for k in post.kinds])
            axis.set_tick_params(labelsize=3.5, length=0)
        score = similar.max(1).mean()
        axes.set_title(f"{pair.replace(':', ', answer ')}: {score:.2f}", fontsize=7)
    FigureCanvasAgg(figure).print_png(str(out / "topic_pairs.png"))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", default="pool")
    parser.add_argument("--data-root", type=Path, default=Path("data/pool"))
    parser.add_argument("--pairs", nargs="*", default=[], metavar="TOPIC:POST")
    parser.add_argument("--out", type=Path, default=Path("docs/results/images"))
    options = parser.parse_args()
    draw_differences(read_scores(options.data_root), options.out)
    if options.pairs:
        draw_pairs(options.env, options.pairs, options.out)


if __name__ == "__main__":
    main()
