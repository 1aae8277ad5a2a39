"""Scripts that fit the weights shipped in the package, and the labelled text they learn from. Not part of the wheel."""
