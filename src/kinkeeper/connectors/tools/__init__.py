"""Tool servers of others (Model Context Protocol): found, described, called; never believed."""
