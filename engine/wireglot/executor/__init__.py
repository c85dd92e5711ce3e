"""Generated functions: what the pictures of a dialect mean, as Python."""
