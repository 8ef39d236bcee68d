"""SSEmb (Li & Chen 2025): formulas by structure and by the text around them.

::

    formula ─► shared operator graph ─► GIN ─► f        cos(f_q, f_c)  ─┐
                                                                        ├─ λ ─► ranking
    post    ─► 1,024 characters ─► sentence encoder ─► t  cos(t_q, t_c) ┘

What is inside::

    system     its parameters, the steps           graphs    as numbers; augmentations
    network    GIN, head                           training  InfoNCE over views
    search     texts around formulas, index, two stages, Eq. 3
"""
