"""The stages: eight packages, each with its nodes, wiring and parameters."""

import warnings

# A system is a namespace inside of each stage (indexing.bm25), and its datasets are
# named only after it (bm25.index): the same in all stages.
warnings.filterwarnings("ignore", "One or more dataset names contain", UserWarning)
