"""Files that people write, read whole or refused with every problem and its line."""
