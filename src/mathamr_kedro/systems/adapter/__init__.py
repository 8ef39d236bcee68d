"""A sentence encoder that learns a field: low-rank adapters of a frozen model.

::

    pairs of texts ──> batches of one kind ──> base model + A·B ──> InfoNCE
    (question, answer;     (pairs)                (training)
     statement, premise)

The weights are a few megabytes in the format of peft, which sentence-transformers
reads: ``adapter_config.json``, ``adapter_model.safetensors``.
"""

from mathamr_kedro.systems.adapter.system import Adapter, AdapterConfig

__all__ = ["Adapter", "AdapterConfig"]
