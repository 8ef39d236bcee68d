"""The documentation site: pages that are made while it builds (``make docs``)."""
