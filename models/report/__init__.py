"""A report on a construction, a training or a comparison: one page that needs no network, and figures for paper."""
