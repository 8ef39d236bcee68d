"""Training: prepared graphs and pairs to the best encoder."""
