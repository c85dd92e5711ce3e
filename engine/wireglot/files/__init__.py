"""Sessions: files of agents as values, texts, logs and trees."""
