"""Sessions of the agents on a machine: where they lie, and how one moves to another agent."""
