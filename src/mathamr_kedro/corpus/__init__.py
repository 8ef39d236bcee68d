"""Readers of collections: raw files to clean records for all stages.

```
arqmath, formula_pool, ntcir12, own_files     kinds of Collection (raw)
beir, premises (json_records)                 published benchmarks
   │ known_items                              other queries over any of them
   │ subset                                   its judged posts only
   │ xml_records, topics, judgments
   │ formats, sections                        of own files
   ▼ raw records and failures
extraction ──► Post, Comment, Topic           markup (scanning): to flat text
   │                query_parts               only a topic's words or formulas
   │                                          math_elements, latex
   │                                          placeholders (delimiters): FORMULA_0, ...
   ▼
tables (Arrow), formula_index, training (pairs, formulas), report
```

Files in public formats (qrels, notes about topics, TSV tables) are read by
:mod:`mathamr_kedro.trec`. Names are imported when they are first used: reading a table
loads no XML parser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.corpus.arqmath import ArqmathCollection, ArqmathFiles
    from mathamr_kedro.corpus.beir import BeirCollection, BeirFiles
    from mathamr_kedro.corpus.extraction import PostCleaner, clean_text
    from mathamr_kedro.corpus.formula_index import FormulaIds, VisualIndex
    from mathamr_kedro.corpus.formula_pool import FormulaPool, FormulaPoolFiles
    from mathamr_kedro.corpus.known_items import KnownItems
    from mathamr_kedro.corpus.ntcir12 import (
        Ntcir12Collection,
        Ntcir12Files,
        Ntcir12Tuples,
        TupleFiles,
    )
    from mathamr_kedro.corpus.own_files import OwnCollection
    from mathamr_kedro.corpus.placeholders import FormulaMarks
    from mathamr_kedro.corpus.premises import PremiseCollection, StatementFiles
    from mathamr_kedro.corpus.query_parts import (
        QueryPart,
        QueryParts,
        name_part,
        take_part,
    )
    from mathamr_kedro.corpus.raw import Collection, Part
    from mathamr_kedro.corpus.tables import RecordTables
    from mathamr_kedro.corpus.topics import EDITIONS, year_of_topic

__all__ = [
    "EDITIONS",
    "ArqmathCollection",
    "ArqmathFiles",
    "BeirCollection",
    "BeirFiles",
    "Collection",
    "FormulaIds",
    "FormulaMarks",
    "FormulaPool",
    "FormulaPoolFiles",
    "KnownItems",
    "Ntcir12Collection",
    "Ntcir12Files",
    "Ntcir12Tuples",
    "OwnCollection",
    "Part",
    "PostCleaner",
    "PremiseCollection",
    "QueryPart",
    "QueryParts",
    "RecordTables",
    "StatementFiles",
    "TupleFiles",
    "VisualIndex",
    "clean_text",
    "name_part",
    "take_part",
    "year_of_topic",
]

__getattr__, __dir__ = load_lazily(__name__, __file__)
