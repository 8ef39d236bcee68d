"""A small collection in memory, and a text model that nobody has trained."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from mathamr_kedro.amr import BuiltinConfig, format_graph, parse_documents
from mathamr_kedro.base.records import (
    FormulaInstance,
    FormulaMention,
    Judgment,
    Post,
    Topic,
)
from mathamr_kedro.formula import trees_from_latex
from mathamr_kedro.graph import FusedRecord, GraphRecord, StoredTrees
from mathamr_kedro.systems import Collection

SUBJECTS = {
    "sum": (["\\sum_{i=1}^n i", "\\sum_k k^2", "\\sum_j 2^j", "\\sum_m m"], "series"),
    "root": (["\\sqrt{2}", "\\sqrt{p}", "\\sqrt[3]{x}", "\\sqrt{a+b}"], "prime"),
    "power": (["x^2-4=0", "y^3=1", "z^n+1", "a^2+b^2=c^2"], "equation"),
    "frac": (["\\frac{a}{b}", "\\frac{1}{n}", "\\frac{x}{y}", "\\frac{2}{7}"], "ratio"),
}
"""Formulas and a word beside them."""


def mention(text: str, number: int, formula_id: str, latex: str) -> FormulaMention:
    name = f"FORMULA_{number}"
    start = text.index(name)
    visual = f"v{latex}".replace(" ", "")
    return FormulaMention(name, formula_id, visual, latex, start, start + len(name))


def make_post(post_id: str, text: str, *latex: str) -> Post:
    formulas = tuple(
        mention(text, n, f"{post_id}{n}", formula) for n, formula in enumerate(latex)
    )
    return Post(
        post_id, "answer", post_id, None, None, None, None, (), "", text, formulas
    )


def make_topic(topic_id: str, text: str, latex: str) -> Topic:
    formula = mention(text, 0, f"q{topic_id}", latex)
    return Topic(
        topic_id, "task2", 2021, "", (), text, (formula,), formula.formula_id, latex,
        None, None, None,
    )  # fmt: skip


def draw_graph(post: Post | Topic) -> FusedRecord:
    """The math graph of a post, by the parser that is always there."""
    (parsed,) = parse_documents([post.text], _parser())
    record = GraphRecord(
        post[0], format_graph(parsed.graph), "answer", post.formula_map, parsed.missing
    )
    return FusedRecord.read(record, StoredTrees(None))


@cache
def _parser():
    return BuiltinConfig().open()


def find_trees(formula: FormulaInstance):
    return trees_from_latex(formula.latex)


@cache
def make_sources() -> Collection:
    """Sixteen posts and twelve topics of four subjects; each topic judges all posts."""
    posts, topics, judgments = [], [], []
    for number, (formulas, word) in enumerate(SUBJECTS.values()):
        for n, latex in enumerate(formulas):
            text = f"Hello there. We find that FORMULA_0 is a {word}. Thanks."
            posts.append(make_post(f"{number}{n}", text, latex))
        for n, latex in enumerate(formulas[:3]):
            text = f"How do I compute FORMULA_0, the {word}?"
            topics.append(make_topic(f"B.{3 * number + n + 1}", text, latex))
    for number, topic in enumerate(topics):
        for n, post in enumerate(posts):
            apart = (number // 3 - n // 4) % 4
            grade = {0: 3, 1: 1}.get(apart, 0)
            visual = post.formula_map[0].visual_id
            judgments.append(Judgment(topic.topic_id, visual, grade, "task2", "q"))
    instances = [
        FormulaInstance(m.formula_id, m.visual_id, p.post_id, m.latex)
        for p in posts
        for m in p.formula_map
    ]
    graphs = [draw_graph(p) for p in posts]
    topic_graphs = [draw_graph(t) for t in topics]
    return Collection(
        formulas=lambda: instances,
        trees_of=find_trees,
        posts=lambda: posts,
        graphs=lambda: graphs,
        topics=lambda: topics,
        topic_graphs=lambda: topic_graphs,
        judgments=lambda: judgments,
    )


WORDS = "sum root SUP SUB divide series prime equation ratio plus eq minus 1 2 find-01"


def make_text_model(folder: Path, words: str = WORDS, width: int = 16) -> Path:
    """A transformer with random weights that knows a few words, and letters."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [chr(n) for n in range(97, 123)]
    known = dict.fromkeys([*special, *letters, *words.split()])
    vocabulary = {token: n for n, token in enumerate(known)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **dict(zip(names, special, strict=True))
    )
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=width, num_hidden_layers=1,
        num_attention_heads=2, intermediate_size=2 * width,
        max_position_embeddings=130,
    )  # fmt: skip
    torch.manual_seed(7)
    BertModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
