"""Writing rule files: examples, laws, first drafts, layout, and what two sets do otherwise."""
