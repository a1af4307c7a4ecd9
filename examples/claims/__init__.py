"""A claim of one's own, to copy; `mirrormata verify` takes its folder."""
