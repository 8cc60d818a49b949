"""How tools are found."""
