"""The many fits of a study: in turn or in processes, kept as they are done, shown as they go."""
