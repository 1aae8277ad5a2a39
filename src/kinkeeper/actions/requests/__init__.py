"""What a person may ask the assistant to do: one table of typed requests, and what comes of each."""
