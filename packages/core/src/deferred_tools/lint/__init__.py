"""What makes tools hard to find, to tell apart or to call: specs in, findings out. Pure."""
