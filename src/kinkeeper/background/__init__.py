"""Work that goes on without a message: today the work on goals."""
