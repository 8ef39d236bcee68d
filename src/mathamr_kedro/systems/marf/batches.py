"""Rows of ids, of several lengths, through an encoder that wants them of one length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from mathamr_kedro.base.ragged import RaggedVectors

_AT_ONCE = 64


def encode_rows(
    encoder: nn.Module, rows: Sequence[NDArray[np.int32]]
) -> RaggedVectors[Tensor]:
    """Return the vectors of all tokens, one row after another.

    Rows of a length are encoded together, some at once. A GPU learns in bfloat16; what
    is kept is computed in single precision everywhere.

    Args:
        encoder: takes (B, L) ids and which of them are real; (B, L, k) vectors come
            out.
        rows: ids of tokens, at least one row; rows of none have no vectors.
    """
    order = np.argsort([len(row) for row in rows], kind="stable")
    parts = [
        _encode_together(encoder, [rows[i] for i in order[start : start + _AT_ONCE]])
        for start in range(0, len(rows), _AT_ONCE)
    ]
    back = torch.from_numpy(np.argsort(order)).to(parts[0].vectors.device)
    return RaggedVectors.join(parts).take(back)


def _encode_together(
    encoder: nn.Module, rows: Sequence[NDArray[np.int32]]
) -> RaggedVectors[Tensor]:
    device = next(encoder.parameters()).device
    lengths = torch.tensor([len(row) for row in rows], device=device)
    ids = np.zeros((len(rows), max(1, *map(len, rows))), dtype=np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
    is_real = torch.arange(ids.shape[1], device=device) < lengths[:, None]
    # a row of none would make every weight of its attention no number
    is_seen = is_real | (lengths == 0)[:, None]
    is_fast = device.type == "cuda" and torch.is_grad_enabled()
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=is_fast):
        found = encoder(torch.from_numpy(ids).to(device), is_seen)
    return RaggedVectors(found[is_real].float(), F.pad(lengths.cumsum(0), (1, 0)))
