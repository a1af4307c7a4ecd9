"""Short causal convolutions of channels, in plain torch and as Triton kernels."""
