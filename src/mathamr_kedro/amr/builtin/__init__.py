"""The parser without downloads: dependency parse, rules, small learned tables.

```
sentence ─ syntax ─> tokens ─ skeleton ─> tree turned towards AMR
         ─ concepts ─> labels ─ fragments ─> fragments of tokens
         ─ coreference ─> pronouns ─ relations ─> edges ─ parser ─> graph
```

``words`` holds linguistic knowledge, ``tables`` what was learned (by
``tools/amr_tables``). Importing this package imports spaCy.
"""

from mathamr_kedro.amr.builtin.parser import BuiltinParser

__all__ = ["BuiltinParser"]
