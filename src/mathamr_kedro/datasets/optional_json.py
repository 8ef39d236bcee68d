"""Facts in an optional JSON file."""

from __future__ import annotations

from typing import Any

from kedro_datasets.json import JSONDataset


class OptionalJSONDataset(JSONDataset):
    """A JSON file; nothing (``{}``) if there is none.

    Two entries may name one file, so that a node learns what an earlier run noted
    there before it notes something itself. Example of a catalog entry::

        earlier_amr_parser:
          type: mathamr_kedro.datasets.optional_json.OptionalJSONDataset
          filepath: data/03_primary/amr_graphs/_parser.json
    """

    def load(self) -> Any:
        """Return what the file holds."""
        return super().load() if self._exists() else {}
