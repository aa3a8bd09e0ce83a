"""What the fast solvers are held against: the minima that the paper's own schedule reaches, stored as JSON."""
