"""Shards: a folder of numbered files that survives being killed at any moment.

```
posts/
  _shards.json        what is finished, its size and checksum, what it was made from
  posts-00000.parquet
  posts-00001.parquet
  .previous/          shards of other input that new ones may be made from
```

A shard is written whole (:mod:`mathamr_kedro.base.files`) and only then entered into
``_shards.json``. A file that is not in the list was left by a killed run: nothing reads
it, and the next run writes it again. So it is with a listed file that is missing or
whose bytes were changed.

``made_from`` says what the shards were made from (raw files, parameters, versions).
When it changes, the folder is rebuilt, so results of two inputs never mix. What is
made from the shards in turn depends on their bytes: if they come out the same, nothing
else is rebuilt.
"""

from mathamr_kedro.base.shards.folder import ShardFolder, Shards
from mathamr_kedro.base.shards.items import (
    EndOfShards,
    Shard,
    ShardItem,
    ShardPairs,
    StartOfShards,
)
from mathamr_kedro.base.shards.lists import LIST_NAME

__all__ = [
    "LIST_NAME",
    "EndOfShards",
    "Shard",
    "ShardFolder",
    "ShardItem",
    "ShardPairs",
    "Shards",
    "StartOfShards",
]
