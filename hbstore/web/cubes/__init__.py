"""The cubes over HTTP: the model, the times and partitions of facts, and waits."""
