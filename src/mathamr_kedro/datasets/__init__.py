"""Kedro datasets: the only place where files and Kedro meet."""
