from tools.amr_tables.lexicon import read_derivations, read_frames


def test_a_frame_has_the_digits_of_its_core_roles():
    lines = ["prove-01  ARG0: prover  ARG1: proposition", "# note"]
    assert read_frames(lines) == {"prove-01": "01"}


def test_nouns_and_actors_know_their_verbs():
    lines = [
        '::DERIV-VERB "prove" ::DERIV-NOUN-ACTOR "prover" ::DERIV-NOUN "proof"',
        '::DERIV-VERB "reprove" ::DERIV-NOUN "proof"',
    ]
    nouns, actors = read_derivations(lines)
    assert nouns == {"proof": ("prove", "reprove")}
    assert actors == {"prover": ("prove",)}
