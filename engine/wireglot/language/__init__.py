"""The rule language: YAML with positions, layers, pictures, and the model that they make."""
