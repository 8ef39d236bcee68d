"""Facts in a JSON file that need not be there."""

from __future__ import annotations

from typing import Any

from mathamr_kedro.datasets.reports import FactsDataset


class OptionalJSONDataset(FactsDataset):
    """A JSON file; nothing (``{}``) where there is none.

    Two entries may name one file, so that a node learns what an earlier run noted
    there before it notes something itself. Example of a catalog entry::

        earlier_amr_parser:
          type: mathamr_kedro.datasets.optional_json.OptionalJSONDataset
          filepath: data/03_primary/amr_graphs/_parser.json
    """

    def load(self) -> Any:
        """Return what the file holds."""
        return super().load() if self._exists() else {}
