"""Headings of a document, and what they head.

```
# Topology            has no text: no section, but part of the titles below
## Compactness        Topology: Compactness
## References         a bibliography: no section
```
"""

from __future__ import annotations

import re

_BIBLIOGRAPHY = re.compile(r"[\W\d]*(references|bibliography|works cited)\W*", re.I)


class Headings:
    """Titles of sections; a heading without a text is part of those below it.

    >>> headings = Headings()
    >>> headings.title(1, "Topology", has_text=False)
    >>> headings.title(2, "Compactness", has_text=True)
    'Topology: Compactness'
    >>> headings.title(1, "References", has_text=True)
    """

    def __init__(self) -> None:
        self._above: list[tuple[int, str]] = []

    def title(self, level: int, title: str, has_text: bool) -> str | None:
        """Return the title of the next section; ``None``: it is no section."""
        self._above = [above for above in self._above if above[0] < level]
        titles = [*(above[1] for above in self._above), title]
        if not has_text and title:
            self._above.append((level, title))
        if not has_text or _BIBLIOGRAPHY.fullmatch(title):
            return None
        return ": ".join(filter(None, titles))
