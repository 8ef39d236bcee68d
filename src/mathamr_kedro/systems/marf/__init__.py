"""MaRF: a text encoder and a formula encoder, fused token by token (Wang et al. 2026).

::

    text + LaTeX ──> context encoder (frozen) ──> tokens E_c ──┐
                                                               ├─> fusion ──> tokens O
    one formula  ──> formula encoder (frozen) ──> tokens E_f ──┘        MaxSim(O_q, O_d)

What is inside::

    system         its parameters, the four steps
    latex_tokens   formulas as the formula encoder reads them
    posts          posts, topics and formulas as tokens, and pairs to learn from
    networks       both encoders, their fusion, scores, losses
    training       three phases
    search         index and ranking
"""
