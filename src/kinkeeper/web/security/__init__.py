"""What every request and response must keep to, whatever route it is for."""
