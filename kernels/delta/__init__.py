"""DeltaProduct: the function in front, plain torch chunks, Triton kernels and their launches."""
