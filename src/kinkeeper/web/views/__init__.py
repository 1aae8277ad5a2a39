"""What the pages show: rows in, frozen values out. Pure."""
