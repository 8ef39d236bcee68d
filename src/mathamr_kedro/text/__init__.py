"""Text as terms and as vectors: BM25, sentence encoders."""
