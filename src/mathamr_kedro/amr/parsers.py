"""The parsers by name, and texts to PENMAN by one of them.

A new parser is a file with its :class:`ParserSettings`, and a line in :class:`Parsers`.
``builtin`` imports spaCy only to parse. ``amrlib`` parses sentence by sentence without
coreference, as MathAMR did; its package and weights have to be installed separately
(https://amrlib.readthedocs.io), and tests run no real parse by it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.documents import (
    AMRParser,
    ParsedDocument,
    ParserSettings,
    parse_documents,
)
from mathamr_kedro.amr.graphs import (
    AMRGraph,
    ParseFailure,
    merge_graphs,
    restore_placeholders,
)
from mathamr_kedro.amr.penman_io import format_graph, read_graph
from mathamr_kedro.amr.transition import TransitionConfig
from mathamr_kedro.base.errors import ConfigurationError, GraphError, suggest
from mathamr_kedro.base.workers import current_slot

_TABLES = Path(__file__).with_name("tables")
_BEAM = 4
"""Beams of the search, amrlib's default."""

AUTO = "auto"


@dataclass(frozen=True)
class BuiltinConfig(ParserSettings):
    """``parser: builtin`` has no parameters."""

    name: ClassVar = "builtin"
    VERSION: ClassVar = 1
    """Version of the rules; another one rebuilds the graphs."""

    def describe(self) -> dict[str, Any]:
        """Return what the graphs depend on: rules by their version, and tables."""
        checksum = _checksum_tables(_TABLES)
        return {"parser": self.name, "version": self.VERSION, "digest": checksum}

    def open(self) -> AMRParser:
        """Return the parser, its models loaded."""
        # It imports spaCy, which takes a second and which the others do not need.
        from mathamr_kedro.amr.builtin import BuiltinParser  # noqa: PLC0415

        parser = BuiltinParser()
        parser.parse_chunks([Chunk(("Let it be.",))])  # loads its models
        return parser


@cache
def _checksum_tables(folder: Path) -> str:
    """Return a checksum of the learned tables."""
    hasher = hashlib.blake2b(digest_size=8)
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            hasher.update(file.name.encode())
            hasher.update(file.read_bytes())
    return hasher.hexdigest()


@dataclass(frozen=True)
class AmrlibConfig(ParserSettings):
    """Parameters of ``parser: amrlib``."""

    name: ClassVar = "amrlib"

    model_dir: str | None = None
    """Folder of the weights; ``None``: where amrlib keeps ``model_stog``."""
    batch_size: int = 12
    """Sentences at a time."""
    devices: tuple[str, ...] = ("cpu",)
    """One per worker, e.g. ``[cuda:0, cuda:1]``."""

    def __post_init__(self) -> None:
        if not self.devices:
            raise ConfigurationError("Expected at least one of 'devices' (got none)")

    def describe(self) -> dict[str, Any]:
        """Return what the graphs depend on."""
        return {"parser": self.name, "model": self.model_dir, "beam": _BEAM}

    def open(self) -> AMRParser:
        """Return the parser, its model loaded."""
        return AmrlibParser(self)


class AmrlibParser:
    """A sentence-to-graph model of amrlib."""

    name = "amrlib"

    def __init__(self, config: AmrlibConfig) -> None:
        device = config.devices[current_slot() % len(config.devices)]
        try:
            # An optional package, imported only if this parser is used.
            import amrlib  # noqa: PLC0415

            self._model = amrlib.load_stog_model(
                model_dir=config.model_dir,
                device=device,
                batch_size=config.batch_size,
                num_beams=_BEAM,
            )
        except ImportError as exc:
            raise ConfigurationError(
                "Expected the package 'amrlib' for 'parser: amrlib'; run: "
                "pip install amrlib transformers, and install a model "
                "(https://amrlib.readthedocs.io)"
            ) from exc
        except (OSError, ValueError) as exc:
            raise ConfigurationError(
                f"amrlib found no model in {config.model_dir or 'its data folder'!r} "
                f"({exc}); set 'amr_parsing.amrlib.model_dir'"
            ) from exc

    def parse_chunks(self, chunks: Sequence[Chunk]) -> list[AMRGraph | ParseFailure]:
        """Parse a batch; a chunk keeps the sentences that could be parsed."""
        sentences = [sentence for chunk in chunks for sentence in chunk.sentences]
        texts = iter(self._model.parse_sents(sentences, add_metadata=False))
        return [
            _merge([next(texts) for _ in chunk.sentences], chunk) for chunk in chunks
        ]


def _merge(texts: Sequence[str | None], chunk: Chunk) -> AMRGraph | ParseFailure:
    graphs: list[AMRGraph] = []
    problems: list[str] = []
    for text, sentence in zip(texts, chunk.sentences, strict=True):
        try:
            if text is None:
                problems.append(f"no graph for {sentence[:80]!r}")
            else:
                graphs.append(restore_placeholders(read_graph(text)))
        except GraphError as exc:
            problems.append(str(exc))
    if not graphs:
        return ParseFailure("penman_error", "; ".join(problems)[:500])
    return graphs[0] if len(graphs) == 1 else merge_graphs(graphs)


@dataclass(frozen=True)
class Parsers:
    """Parameters of each parser; the names of the fields are those of the parsers."""

    builtin: BuiltinConfig = field(default_factory=BuiltinConfig)
    transition: TransitionConfig = field(default_factory=TransitionConfig)
    amrlib: AmrlibConfig = field(default_factory=AmrlibConfig)

    def find(self, name: str) -> ParserSettings:
        """Return the settings of a parser.

        >>> Parsers().find("transition").describe()["model"]
        'doc-sen-conll-amr-seed42'

        Raises:
            ConfigurationError: there is no such parser.
        """
        if name not in PARSERS:
            raise ConfigurationError(
                f"Expected one of {[*PARSERS]} for 'parser' (got {name!r})"
                f"{suggest(name, PARSERS)}"
            )
        return getattr(self, name)

    def choose(self, choice: str, earlier: str | None = None) -> str:
        """Resolve a choice of parser.

        ``auto`` is the thesis' parser if it is installed, and otherwise ``builtin``. It
        is
        resolved once, before anything is parsed, and recorded with the graphs: graphs
        of two parsers are never compared as one collection.

        Args:
            choice: a parser, or ``auto``.
            earlier: the parser of existing graphs; with ``auto`` it is kept, so that
                the environment of a parser that is moved or built later rebuilds
                nothing.

        >>> absent = Parsers(transition=TransitionConfig(python="no/python"))
        >>> absent.choose("auto"), absent.choose("auto", "transition")
        ('builtin', 'transition')
        """
        if choice != AUTO:
            return self.find(choice).name
        if earlier in PARSERS:
            return str(earlier)
        installed = self.transition if self.transition.is_installed else self.builtin
        return installed.name


PARSERS = tuple(f.name for f in fields(Parsers))


def describe_parser(description: Mapping[str, Any]) -> str:
    """Return the line about the parser of their graphs in reports and tables.

    >>> describe_parser({"parser": "transition", "model": "seed42"})
    'AMR parser: transition, model seed42.'
    >>> describe_parser({"parser": "builtin", "digest": "1f"})
    'AMR parser: builtin (the thesis: transition, model doc-sen-conll-amr-seed42).'
    """
    name = description.get("parser", "not recorded")
    model = description.get("model")
    line = f"AMR parser: {name}" + (f", model {model}" if model else "")
    thesis = TransitionConfig()
    if name == thesis.name:
        return f"{line}."
    return f"{line} (the thesis: {thesis.name}, model {thesis.model})."


class ParsedText(NamedTuple):
    """The graph of a text as PENMAN."""

    graph: str
    missing: tuple[str, ...]
    """Placeholders of the text without a node."""
    failures: tuple[ParseFailure, ...]
    """Chunks that could not be parsed, while others could."""


@dataclass(frozen=True)
class ParseTexts:
    """Clean texts to graphs, one result per text.

    Called, it gives graphs as text, which workers send and files hold. Only the
    settings are sent to workers; each process opens its parser once.
    """

    VERSION: ClassVar = 1
    """Version of chunking and merging; another one rebuilds the graphs."""

    parser: ParserSettings = field(default_factory=BuiltinConfig)

    def prepare(self) -> None:
        """Load the parser."""
        _open(self.parser)

    def __call__(self, texts: Sequence[str]) -> list[ParsedText | ParseFailure]:
        """Parse a batch of texts.

        Raises:
            ConfigurationError, MissingInputError: the parser can parse nothing at all.
        """
        return [_write_graph(result) for result in self.parse(texts)]

    def parse(self, texts: Sequence[str]) -> list[ParsedDocument | ParseFailure]:
        """Parse a batch of texts; the graphs are objects.

        Raises:
            ConfigurationError, MissingInputError: the parser can parse nothing at all.
        """
        size = self.parser.chunks_per_call
        results = parse_documents(texts, _open(self.parser), batch_size=size)
        return [_make_printable(result) for result in results]


@cache
def _open(settings: ParserSettings) -> AMRParser:
    return settings.open()


def _make_printable(
    result: ParsedDocument | ParseFailure,
) -> ParsedDocument | ParseFailure:
    if isinstance(result, ParseFailure):
        return result._replace(detail=make_printable(result.detail))
    failures = (f._replace(detail=make_printable(f.detail)) for f in result.failures)
    return result._replace(failures=tuple(failures))


def _write_graph(result: ParsedDocument | ParseFailure) -> ParsedText | ParseFailure:
    """Write the graph; a graph that cannot be written is a failure."""
    if isinstance(result, ParseFailure):
        return result
    try:
        text = format_graph(result.graph)
        text.encode("utf-8")
    except (GraphError, UnicodeEncodeError) as exc:
        return ParseFailure("penman_error", make_printable(str(exc)))
    return ParsedText(text, result.missing, result.failures)


def make_printable(text: str) -> str:
    r"""Escape characters that UTF-8 cannot encode.

    >>> make_printable("a\ud800b")
    'a\\ud800b'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
