import numpy as np

from tools.amr_tables.linear_fitting import fit_classifier, fit_ranker


def test_a_classifier_learns_which_feature_speaks_for_which_label():
    examples = [["cat", "x"], ["dog", "x"]] * 20
    model = fit_classifier(examples, ["meow", "bark"] * 20)
    assert model.labels == ("bark", "meow")
    scores = model.score([["cat"], ["dog"], []])
    assert scores.argmax(axis=1)[:2].tolist() == [1, 0]
    np.testing.assert_allclose(np.exp(scores).sum(axis=1), 1, rtol=1e-5)


def test_rare_features_are_dropped():
    model = fit_classifier([["a", "once"], ["a"]], ["x", "y"])
    assert set(model.features) == {"a"}


def test_a_ranker_learns_which_candidate_is_chosen():
    groups = [[["good"], ["bad"]], [["bad"], ["good"], ["bad", "odd"]]] * 10
    model = fit_ranker(groups, [0, 1] * 10)
    good, bad = model.score([["good"], ["bad"]])
    assert good > bad


def test_the_same_seed_gives_the_same_weights():
    groups = [[["a"], ["b", "c"]], [["c"], ["a", "b"]]] * 40
    one, two = (fit_ranker(groups, [0, 1] * 40, seed=3) for _ in range(2))
    assert one == two
