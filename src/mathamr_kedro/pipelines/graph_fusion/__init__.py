"""Graph fusion: AMR graphs and formula trees to math graphs."""
