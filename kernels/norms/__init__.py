"""L2 and root-mean-square norms of rows, in plain torch and as Triton kernels."""
