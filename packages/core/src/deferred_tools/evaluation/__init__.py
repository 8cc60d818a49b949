"""How well a retriever finds the right tools: data, metrics, and the run that joins them."""
