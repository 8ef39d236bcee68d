"""Sentences as graphs: Abstract Meaning Representation (AMR) of clean text.

```
text with FORMULA_n ─ chunking ─> chunks ─ a parser ─> graphs ─ merging ─> one graph
                                     │
                    builtin          any machine, no download
                    transition       the thesis' parser, a worker process per GPU
                    amrlib           MathAMR's parser
```

| module | what it holds |
|---|---|
| ``graphs`` | :class:`AMRGraph`; many of them under one ``multi-sentence`` root |
| ``penman_io`` | reading and writing PENMAN: graphs, symbols, strings |
| ``chunking`` | sentences of mathematical prose, packed into chunks |
| ``documents`` | interface of parsers; texts to graphs; a bad chunk fails alone |
| ``parsers`` | the parsers by name; texts to PENMAN, as a function that workers run |
| ``report`` | Table 4.2 of the thesis as far as it concerns AMR |

A text to its graph::

    parser = Parsers().find("builtin").open()
    (parsed,) = parse_documents(["Prove that FORMULA_0 is even."], parser)
    print(format_graph(parsed.graph))

Importing this package imports neither spaCy nor penman: they are loaded when they are
needed.
"""

from mathamr_kedro.amr.chunking import MAX_CHUNK_TOKENS, split_chunks
from mathamr_kedro.amr.documents import (
    ParsedDocument,
    ParserSettings,
    parse_documents,
)
from mathamr_kedro.amr.graphs import (
    PLACEHOLDER,
    AMRGraph,
    Attribute,
    Edge,
    ParseFailure,
)
from mathamr_kedro.amr.parsers import (
    AUTO,
    PARSERS,
    BuiltinConfig,
    ParsedText,
    Parsers,
    ParseTexts,
    describe_parser,
    make_printable,
)
from mathamr_kedro.amr.penman_io import (
    format_graph,
    format_string,
    lay_out_text,
    read_graph,
    read_symbol,
)
from mathamr_kedro.amr.report import (
    check_account,
    describe_outcomes,
    report_parsing,
)

__all__ = [
    "AUTO",
    "MAX_CHUNK_TOKENS",
    "PARSERS",
    "PLACEHOLDER",
    "AMRGraph",
    "Attribute",
    "BuiltinConfig",
    "Edge",
    "ParseFailure",
    "ParseTexts",
    "ParsedDocument",
    "ParsedText",
    "ParserSettings",
    "Parsers",
    "check_account",
    "describe_outcomes",
    "describe_parser",
    "format_graph",
    "format_string",
    "lay_out_text",
    "make_printable",
    "parse_documents",
    "read_graph",
    "read_symbol",
    "report_parsing",
    "split_chunks",
]
