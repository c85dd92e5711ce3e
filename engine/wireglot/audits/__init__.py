"""What a conversion did, and what it can do: traces, explanations, reports, audits."""
