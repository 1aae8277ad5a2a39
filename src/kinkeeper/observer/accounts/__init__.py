"""What the observer can account for: traces, proofs by repetition, figures."""
