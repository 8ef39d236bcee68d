"""One seed for every source of random numbers."""

from __future__ import annotations

import random

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    """Seed Python, numpy and torch, on all devices.

    Training itself draws from generators of its own (the order of pairs from seed and
    epoch, augmentation from seed and step), so that it can go on from any step.
    """
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)
