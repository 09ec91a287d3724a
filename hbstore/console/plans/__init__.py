"""What the console shows of plans: key lines, their fields, grids of partitions, and why a plan was chosen."""
