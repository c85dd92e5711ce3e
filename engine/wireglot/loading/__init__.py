"""Loading: where rule files are found, and the rule sets that are made of them."""
