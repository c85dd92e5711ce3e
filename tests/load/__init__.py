"""`wireglot serve` under load: beside a relay that converts nothing, and beside litellm's proxy."""
