"""Systems to stand beside: BM25 over words and LaTeX or over tree tuples, MiniLM."""
