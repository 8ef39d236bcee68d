"""MaRF: a text encoder and a formula encoder, fused token by token (Wang et al. 2026).

::

    text + LaTeX ──> context encoder (frozen) ──> tokens E_c ──┐
                                                               ├─> fusion ──> tokens O
    one formula  ──> formula encoder (frozen) ──> tokens E_f ──┘        MaxSim(O_q, O_d)

What is inside::

    reading    latex_tokens   items
    networks   networks: both encoders and their fusion; scores: MaxSim, the loss
    learning   posts: pairs and posts as tokens ──> training: three phases
    search     search: index and ranking
    system     the four steps       config   its parameters
"""

from mathamr_kedro.systems.marf.config import MarfConfig
from mathamr_kedro.systems.marf.system import Marf

__all__ = ["Marf", "MarfConfig"]
