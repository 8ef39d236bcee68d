"""From a gold graph to the labels of tokens and pairs, on one sentence."""

from mathamr_kedro.amr import read_graph
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import parse_sentences
from mathamr_kedro.amr.builtin.words import Lexicon
from tools.amr_tables.alignment import align
from tools.amr_tables.observation import observe

LEXICON = Lexicon({"speak-01": "012", "teach-01": "012"}, {}, {"teacher": ("teach",)})
TEXT = "The teacher can not speak ."
GRAPH = read_graph(
    """
    (p / possible-01 :polarity -
       :ARG1 (s / speak-01
                :ARG0 (p2 / person :ARG0-of (t / teach-01))))
    """
)


def test_every_node_is_a_token_or_a_part_of_its_neighbour():
    (tokens,) = parse_sentences([TEXT])
    words = [token.form for token in tokens]
    alignment = align(tokens, GRAPH, LEXICON, {})
    owners = {variable: words[i] for variable, i in alignment.nodes.items()}
    assert owners == {"p": "can", "s": "speak", "t": "teacher"}
    seen = observe(Skeleton(tokens), GRAPH, alignment)
    assert {words[i]: label for i, label in seen.labels.items()} == {
        "teacher": "(person :ARG0-of (teach-01*))",
        "can": "possible-01",
        "not": "@-",
        "speak": "speak-01",
    }
    edges = {(words[a], role, words[b]) for (a, b), role in seen.edges.items()}
    assert edges == {
        ("can", "ARG1", "speak"),
        ("can", "polarity", "not"),
        ("speak", "ARG0", "teacher"),
    }
    assert words[seen.top] == "can"
