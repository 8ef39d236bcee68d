"""Mutation testing: do the tests notice when the code is wrong?

``make mutants`` changes one thing at a time (a comparison, a sign, a constant, ...),
twenty times a package, runs the tests that run what was changed, and lists the mutants
that no test noticed.
"""
