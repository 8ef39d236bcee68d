"""Learn the tables of the builtin AMR parser; for developers only.

Run ``python -m tools.amr_tables.fit --corpora FOLDER`` in the root of the repository.

```
corpora ─> sentences with gold graphs
             │ alignment, matching            which token a node comes from
             │ observation, fragment_labels   labels of tokens and of pairs of tokens
             │ linear_fitting                 weights of features
             └─> tables                       with what lexicon reads
```
"""
