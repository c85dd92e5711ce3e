"""Agent libraries as clients: `make loop` runs them."""
