"""Makes the font of the search page: ``python -m tools.math_font FONT.otf``.

Takes Latin Modern Math (Debian package ``fonts-lmodern``), keeps what the LaTeX reader
can draw, with all sizes of fences and roots, and writes WOFF2. Needs ``fonttools`` and
``brotli``, which the project itself does not.
"""

from __future__ import annotations

import string
import sys
from pathlib import Path

from mathamr_kedro.formula.latex.alphabets import FONTS
from mathamr_kedro.formula.latex.symbols import SYMBOLS

PROJECT = Path(__file__).resolve().parents[1]
TARGET = PROJECT / "src/mathamr_kedro/serve/static/math.woff2"
FAMILY = "MathAMR Math"
"""The licence asks for another name where a font was changed."""
ACCENTS = "ˆ˜ˇ˘´`¨˙˚→←↔⏞⏟⏜⏝\u0302\u0303\u20d7¯‾_^~"
MORE = "−∗′″‴⁗‖∥‘’“”–—…·¸ıȷ\u2061\u2062\u2063\u2064"


def list_characters() -> set[str]:
    """Return every character that a formula can show."""
    letters = string.ascii_letters + string.digits
    greek = "".join(chr(code) for code in (*range(0x391, 0x3AA), *range(0x3B1, 0x3CA)))
    found = set(letters + greek + string.punctuation + " \xa0" + ACCENTS + MORE)
    found |= {char for symbol in SYMBOLS.values() for char in symbol.text}
    for font in [*FONTS.values(), *(font.embolden() for font in FONTS.values())]:
        found |= {shown for c in letters + greek for shown in font.restyle(c) or ""}
    return found


def main() -> None:
    """Write the font."""
    from fontTools import subset  # not part of the project

    options = subset.Options()
    options.flavor = "woff2"
    options.layout_features = ["ssty", "dtls", "flac"]
    options.hinting = False
    options.drop_tables += ["FFTM"]
    font = subset.load_font(sys.argv[1], options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=map(ord, list_characters()))
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in (1, 4, 16):
            record.string = FAMILY
        elif record.nameID == 6:
            record.string = FAMILY.replace(" ", "")
    subset.save_font(font, str(TARGET), options)
    print(f"Wrote {TARGET} ({TARGET.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
