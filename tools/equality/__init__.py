"""Do two checkouts give the same scores and answers?

::

    python -m tools.equality ../before . --envs demo demo+formula_rgcn

====================  ==================================================================
:mod:`.checkouts`     runs all stages of an environment, and asks the search
:mod:`.queries`       chooses typed queries from the posts that were read
:mod:`.comparison`    compares run files, scores and answers
====================  ==================================================================
"""
