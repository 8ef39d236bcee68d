"""MaRF: a text encoder and a formula encoder, fused token by token (Wang et al. 2026).

::

    text + LaTeX ──> context encoder (frozen) ──> tokens E_c ──┐
                                                               ├─> fusion ──> tokens O
    one formula  ──> formula encoder (frozen) ──> tokens E_f ──┘        MaxSim(O_q, O_d)

What is inside::

    reading    latex_tokens   vocabulary   items
    networks   context_encoder   formula_encoder   fusion   batches
    learning   preparation ─> post_shards ─> training ─> phases ─> losses
               frozen_vectors
    search     model ─> indexing ─> token_index
    system     the four steps       config   its parameters
"""

from mathamr_kedro.systems.marf.config import MarfConfig
from mathamr_kedro.systems.marf.system import Marf

__all__ = ["Marf", "MarfConfig"]
