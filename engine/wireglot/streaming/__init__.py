"""Streams: frames folded into a response, and a response unfolded into frames."""
