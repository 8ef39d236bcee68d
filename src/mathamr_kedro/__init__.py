"""Mathematical search with MathAMR+ graphs, as a Kedro project."""

__version__ = "0.2.0"
