"""Language models and embeddings: one gateway for all calls, and the limits it keeps."""
