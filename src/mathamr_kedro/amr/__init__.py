"""Sentences as graphs: Abstract Meaning Representation (AMR) of clean text.

```
text with FORMULA_n ─ chunking ─> chunks ─ parser ─> graphs ─ merging ─> one graph
```
"""
