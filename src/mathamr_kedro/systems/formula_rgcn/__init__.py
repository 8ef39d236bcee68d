"""Formulas found by the nodes of their graphs (Amador & Zanibbi 2025).

::

    system    the parameters, the four steps
    forest    trees as flat arrays, vocabularies
    training  pairs of graphs (Eq. 2, 3) ──> network (Eq. 1)
    search    vectors of all nodes, by representation; ranking (Eq. 4), fused; what
              matched what
"""
