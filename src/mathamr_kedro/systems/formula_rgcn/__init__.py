"""Formula search by nodes of layout and operator graphs (Amador & Zanibbi 2025)."""

__all__: list[str] = []
