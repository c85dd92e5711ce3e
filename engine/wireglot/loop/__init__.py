"""The loop of a client in front of a provider: what is remembered, and where it rides."""
