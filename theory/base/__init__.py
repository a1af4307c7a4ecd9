"""The base that claims stand on, checked before they are: arithmetic, checkers, proofs, impossibility, bounds, kernels' plans."""
