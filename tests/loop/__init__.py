"""A scripted loop: a client that keeps what its SDK keeps, and a provider that plays its turns."""
