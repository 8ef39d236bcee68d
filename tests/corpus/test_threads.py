from mathamr_kedro.corpus.training import Threads

HEADS = [
    ("1", "question", None, "2"),
    ("2", "answer", "1", None),
    ("3", "answer", "1", None),
    ("4", "question", None, "99"),
    ("5", "answer", "77", None),
    ("6", "answer", None, None),
    ("7", "question", None, "3"),
    ("8", "document", None, None),
]


def test_accepted_answers_make_training_pairs():
    assert list(Threads(HEADS).pairs()) == [("1", "2")]


def test_all_answers_can_make_training_pairs():
    assert list(Threads(HEADS).pairs("all")) == [("1", "2"), ("1", "3")]


def test_broken_threads_are_noted():
    found = [(f.record_id, f.reason) for f in Threads(HEADS).problems()]
    assert found == [
        ("5", "question_missing"),
        ("4", "accepted_answer_missing"),
        ("7", "accepted_answer_elsewhere"),
    ]


def test_examples_pair_by_their_parent() -> None:
    """A text to learn from is a reply exactly when it names a parent."""
    threads = Threads(
        [
            ("e1", "example", None, "e1/answer"),
            ("e1/answer", "example", "e1", None),
        ]
    )
    assert list(threads.pairs()) == [("e1", "e1/answer")]
    assert list(threads.pairs("all")) == [("e1", "e1/answer")]
    assert not list(threads.problems())
