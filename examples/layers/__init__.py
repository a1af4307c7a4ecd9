"""Layers written as a user of the package would write them; docs/own-layers.md trains, compares and proves models of them."""
