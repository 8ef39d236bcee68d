"""The stages: in each, ``nodes.py`` calls the domain and ``pipeline.py`` wires."""
