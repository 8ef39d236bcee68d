"""Pages, figures and metrics as Kedro-Viz shows them."""

from __future__ import annotations

import inspect
import re

import plotly.graph_objects as go
import pytest
from kedro.io import DatasetError, Version

from mathamr_kedro.datasets.report_figures import FigureDataset
from mathamr_kedro.datasets.reports import (
    FactsDataset,
    MetricsDataset,
    ReportDataset,
    ResultDataset,
)


@pytest.fixture
def figure(tmp_path):
    dataset = FigureDataset(
        filepath=str(tmp_path / "new/sizes.json"), version=Version(None, "1")
    )
    dataset.save(go.Figure(go.Bar(x=["a"], y=[1])))
    return dataset


def test_a_figure_has_a_picture_beside_it(figure, tmp_path):
    assert (tmp_path / "new/sizes.png").read_bytes().startswith(b"\x89PNG")
    assert figure.load().data[0].y == (1,)
    assert figure.exists()
    assert figure.preview()["data"][0]["type"] == "bar"


def test_load_missing_figure(tmp_path):
    dataset = FigureDataset(filepath=str(tmp_path / "sizes.json"))
    assert not dataset.exists()
    with pytest.raises(DatasetError):
        dataset.load()


def test_a_page_is_shown_with_tables_and_pictures(figure, tmp_path):
    page = ReportDataset(filepath=str(tmp_path / "new/page.md"))
    page.save("# Sizes\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n![Sizes](sizes.png)\n")
    shown = page.preview()
    assert "<h1>Sizes</h1>" in shown and "<td>2</td>" in shown
    assert re.search(r'<img src="data:image/png;base64,\w{100}', shown)
    assert page.load().startswith("# Sizes")


def test_html_in_a_page_is_text(tmp_path):
    page = ReportDataset(filepath=str(tmp_path / "page.md"))
    page.save("`<b>` <script>alert(1)</script> ![](../secret.png) ![](gone.png)")
    assert "<script>" not in page.preview()
    assert "base64" not in page.preview()


def test_metrics_are_shown_as_a_table(tmp_path):
    metrics = MetricsDataset(filepath=str(tmp_path / "metrics.json"))
    metrics.save([{"system": "a", "mean": 0.5}, {"system": "b", "floor": 0.1}])
    assert metrics.preview() == {
        "index": [0, 1],
        "columns": ["system", "mean", "floor"],
        "data": [["a", 0.5, None], ["b", None, 0.1]],
    }
    assert metrics.preview(nrows=1)["index"] == [0]


@pytest.mark.parametrize(
    ("dataset", "kind"),
    [(ReportDataset, "HTMLPreview"), (MetricsDataset, "TablePreview"),
     (FigureDataset, "PlotlyPreview"), (FactsDataset, "TablePreview"),
     (ResultDataset, "HTMLPreview")],
)  # fmt: skip
def test_kedro_viz_knows_the_kind_of_preview(dataset, kind):
    found = inspect.signature(dataset.preview).return_annotation
    assert getattr(found, "__name__", found) == kind


def test_facts_are_rows_by_their_path(tmp_path):
    facts = FactsDataset(filepath=str(tmp_path / "facts.json"))
    facts.save({"posts": 3, "index": {"bytes": 7, "from": ["a", "b"]}, "none": {}})
    assert facts.preview()["columns"] == ["fact", "value"]
    assert facts.preview()["data"] == [
        ["posts", 3], ["index.bytes", 7], ["index.from", "a, b"], ["none", {}]
    ]  # fmt: skip
    assert len(facts.preview(nrows=2)["data"]) == 2


def test_results_are_shown_as_their_tables(tmp_path):
    result = ResultDataset(filepath=str(tmp_path / "result.json"))
    result.save({"tables": {"4.6": "| a |\n|---|\n| <b>1</b> |\n"}, "rows": {}})
    assert "<td>&lt;b&gt;1&lt;/b&gt;</td>" in result.preview()
