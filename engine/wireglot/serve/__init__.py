"""A client of one dialect before a provider of another, over HTTP: a server, and transports."""
