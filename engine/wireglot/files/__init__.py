"""Sessions: what stands in their files, as values, texts, logs and trees."""
