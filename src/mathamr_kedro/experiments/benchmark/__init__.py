"""One table of systems × benchmarks, in versions that can be compared.

```
suite     conf/benchmarks.yml: topics, protocol, measures, reference of each benchmark
  │ scores    runs against judgments, with floor and ceiling
  │ report    tests against the reference; tables as Markdown, CSV and JSON
  │ figure    dots with intervals
  ▼
store     versions on the disk, and how two of them differ
  │ choice    a setting chosen by several sets, with each left out in turn
```

``figure`` loads matplotlib and is imported from its module.
"""

from mathamr_kedro.experiments.benchmark.choice import Choice
from mathamr_kedro.experiments.benchmark.report import BenchmarkReport
from mathamr_kedro.experiments.benchmark.scores import BenchmarkScores
from mathamr_kedro.experiments.benchmark.store import BenchmarkStore
from mathamr_kedro.experiments.benchmark.suite import Benchmark

__all__ = [
    "Benchmark",
    "BenchmarkReport",
    "BenchmarkScores",
    "BenchmarkStore",
    "Choice",
]
