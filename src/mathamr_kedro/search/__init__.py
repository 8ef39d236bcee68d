"""From vectors to ranked lists: stores, indexes, strategies, fusion, explanation."""
