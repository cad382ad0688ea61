"""The figures of a report: one a module, in folders by subject as the statistics are (see `figure.Figure`)."""
