"""Package data: prices (ours) and the catalogue of windows and limits (a snapshot of litellm's, MIT)."""
