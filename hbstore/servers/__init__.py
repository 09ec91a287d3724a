"""What all ports share: listening, connections and limits, threads, processes, metrics, logs, and how they stop."""
