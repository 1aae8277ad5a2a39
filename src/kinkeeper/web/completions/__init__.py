"""The conversation for programs that speak OpenAI's protocol: what they ask, what they are told, and how errors look."""
