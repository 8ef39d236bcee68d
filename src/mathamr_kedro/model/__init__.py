"""The MathAMR+ encoder: graphs in, vectors out; needs only torch and numpy.

::

    model = load_model(Path("encoders/mine"), ComputeConfig(device="auto"))
    vectors = model(shards.assemble([0, 1]))        # (representatives, 32)

Modules, one equation each::

    mathamr_plus       the whole encoder             config     shape, device, precision
    node_embedding     first states of nodes         weights    model.json, weights.pt
    encoder            the residual layers (3.1)     backends   Eq. 2.4 is computed by
    relation_weights   their matrices W_r              reference_backend   a loop
    member_pooling     means over members              torch_backend       any device
    projection         the head (3.3)                  triton_backend      CUDA
    readout            what members add to it        row_plan, tiles, triton_*  below
    maxsim             scores (3.5, 3.7)             losses     InfoNCE (3.6)

Modules named ``triton_*`` hold kernels with the code that launches them. They import
the package triton, so they are themselves imported only if they can run.
"""

from mathamr_kedro.model.backends import can_use_triton, choose_backend
from mathamr_kedro.model.config import (
    ComputeConfig,
    ModelConfig,
    Precision,
    compute_with,
    current_compute,
    current_scan,
)
from mathamr_kedro.model.host_copy import HostCopy
from mathamr_kedro.model.losses import (
    info_nce,
    measure_accuracy,
    multi_positive_info_nce,
)
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.member_pooling import gather_rows
from mathamr_kedro.model.weights import (
    checksum_model,
    copy_model,
    load_model,
    read_shape,
    save_model,
)

__all__ = [
    "ComputeConfig",
    "HostCopy",
    "MathAMRPlus",
    "ModelConfig",
    "Precision",
    "can_use_triton",
    "checksum_model",
    "choose_backend",
    "compute_with",
    "copy_model",
    "current_compute",
    "current_scan",
    "gather_rows",
    "info_nce",
    "load_model",
    "measure_accuracy",
    "multi_positive_info_nce",
    "read_shape",
    "save_model",
]
