"""The MathAMR+ encoder: graphs in, vectors out."""
