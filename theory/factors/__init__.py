"""What products of generalized Householder factors can do, and how many a map needs."""
