"""The stages, one package each: ``nodes.py`` calls the domain, ``pipeline.py`` wires."""
