"""LaTeX documents: their files, statements, sections and texts.

```
corpus     which files are documents, and the posts, statements and links in them
document   joined files without comments, macros expanded (formula/latex/macros)
preamble   theorems, counters, environments, the title
units      statements with their proofs, sections
text       flat text with marks for formulas, without comments and drawings
```

Arguments, definitions and macros are read by :mod:`mathamr_kedro.formula.latex`.
"""

from mathamr_kedro.corpus.latex.text import flatten_latex

__all__ = ["flatten_latex"]
