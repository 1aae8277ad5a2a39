"""What of memory stands before the assistant's eyes: within a budget, in tiers, streamed ahead of need."""
