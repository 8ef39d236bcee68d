"""Mutation testing: do the tests notice when the code is wrong?

``make mutants`` changes one thing at a time (a comparison, a sign, a constant, ...),
twenty times a package, runs the tests of that package on each mutant, and lists those
that no test noticed.
"""
