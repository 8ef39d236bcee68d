"""The parser that works everywhere: dependency parse, rules, small learned tables.

```
sentence ─ rewording, syntax ─> tokens ─ skeleton ─> tree turned towards AMR
         ─ candidates, concepts ─> labels ─ names, fragments ─> fragments of tokens
         ─ coreference ─> pronouns ─ relations, joining ─> edges ─ assembly ─> graph
```

``words`` holds what is known before any learning, ``linear`` and ``tables`` what was
learned (by ``tools/amr_tables``). Importing this package imports spaCy.
"""

from mathamr_kedro.amr.builtin.parser import BuiltinParser

__all__ = ["BuiltinParser"]
