"""Reference minima, stored as JSON: what the paper's own schedule reaches, to compare our faster training with."""
