"""Pages of the web and the search engine that the settings name: read only, and only what may be read."""
