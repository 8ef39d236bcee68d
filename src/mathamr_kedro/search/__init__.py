"""Search for people: text in, posts and reasons out.

::

    searcher      ask any system in words
    answers       what was found, and its texts
    responses     response models of REST, the page, the assistant, the terminal, Python
    views         what was found as these, formulas drawn
    statements    kinds of statements, and who uses them
    explanation   which node of a query matched which node of a post
    heatmap       the same as a picture (matplotlib; not loaded here)
"""

from mathamr_kedro.search.answers import Answer, ResultFilter
from mathamr_kedro.search.explanation import Explanation, explain
from mathamr_kedro.search.searcher import Lookups, Searcher
from mathamr_kedro.search.statements import Statements

__all__ = [
    "Answer",
    "Explanation",
    "Lookups",
    "ResultFilter",
    "Searcher",
    "Statements",
    "explain",
]
