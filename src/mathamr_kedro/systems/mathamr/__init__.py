"""MathAMR: formulas in their sentences, AMR with operator trees as strings.

Mansouri, Oard and Zanibbi 2022. What each module does, in the order of the steps::

    system       its parameters, the four steps
    contexts     math graphs as strings; a formula in its post ──> text, five forms
    judged       judgments ──> triples (query, candidate, score), folds of topics
    encoder      a text model, and the losses that tune it
    training     one model for each fold
    search       vectors of all texts, cosine, reranking, fusion with a first run
"""
