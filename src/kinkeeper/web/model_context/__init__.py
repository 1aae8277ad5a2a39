"""The Model Context Protocol: what models of other programs may look up here, and propose."""
