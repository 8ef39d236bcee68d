r"""Mathematical search with MathAMR+ graphs, as a Kedro project.

::

    import mathamr_kedro as mathamr

    search = mathamr.open_search(env="demo")
    answer = search.search(r"is $\sqrt p$ irrational for a prime $p$?", top=3)
    print(answer)
    print(answer.results[0].score, answer.results[0].matches)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.base.hits import Hits
    from mathamr_kedro.project.search import open_search
    from mathamr_kedro.systems.base import Collection, Rankings, System
    from mathamr_kedro.systems.query import Query

__all__ = [
    "Collection",
    "Hits",
    "Query",
    "Rankings",
    "System",
    "__version__",
    "open_search",
]

__version__ = "0.2.0"

__getattr__, __dir__ = load_lazily(__name__, __file__)
