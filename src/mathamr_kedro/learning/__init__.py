"""Training the encoder, and encoding with it; needs torch and numpy alone."""
