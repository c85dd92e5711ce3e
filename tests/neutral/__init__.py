"""Cases that a converter in any language can be held to, and who passes them."""
