"""Trial rule files: the language tried on formats that are harder than the packaged ones.

They are not packaged, and not complete. Each says at its head what the language cannot say yet
(`# Lacks:`), and what had to be said in a roundabout way (`# Tricks:`).
"""
