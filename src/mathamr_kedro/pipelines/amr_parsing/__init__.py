"""AMR parsing: clean texts to one graph per post, or the reason why there is none."""
