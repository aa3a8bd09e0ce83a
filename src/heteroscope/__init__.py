"""Regression that knows how sure it is, and that tells which phase a model is in before it is trusted."""
