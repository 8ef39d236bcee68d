"""SSEmb (Li & Chen 2025): formulas by structure and by the text around them.

::

    formula ─► shared operator graph ─► GIN ─► f        cos(f_q, f_c)  ─┐
                                                                        ├─ λ ─► ranking
    post    ─► 1,024 characters ─► sentence encoder ─► t  cos(t_q, t_c) ┘

What is inside::

    system     its parameters, the steps           graphs    as numbers; augmentations
    network    GIN, head                           training  InfoNCE over views
    search     texts around formulas, index, two stages, Eq. 3

Names are imported when they are first used: training needs torch and numpy only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.systems.ssemb.system import SSEmb, SSEmbConfig


__all__ = ["SSEmb", "SSEmbConfig"]

__getattr__, __dir__ = load_lazily(__name__, __file__)
