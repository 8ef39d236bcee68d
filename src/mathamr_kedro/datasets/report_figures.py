"""Figures of reports as datasets."""

from __future__ import annotations

import plotly.graph_objects as go
from kedro_datasets.plotly import JSONDataset as PlotlyDataset

from mathamr_kedro.figures import write_png


class FigureDataset(PlotlyDataset):
    """A Plotly figure, with a picture beside it that Markdown pages can show.

    The figure may be versioned; the picture is that of the last run, as the pages are.
    Example of a catalog entry, whose picture is ``ingestion_figure.png``::

        ingestion_figure:
          type: mathamr_kedro.datasets.report_figures.FigureDataset
          filepath: data/08_reporting/ingestion_figure.json
          versioned: true
    """

    def save(self, data: go.Figure) -> None:
        """Write the figure, and its picture."""
        PlotlyDataset.save.__wrapped__(self, data)
        with self._fs.open(str(self._filepath.with_suffix(".png")), "wb") as file:
            file.write(write_png(data))
