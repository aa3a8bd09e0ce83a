"""Train many models on one stream: every batch that is read trains all of them."""
