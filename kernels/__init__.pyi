from ._backends import BackendUnavailableError as BackendUnavailableError
from ._backends import KernelError as KernelError
from ._backends import KernelInputError as KernelInputError
from ._backends import launch_counts as launch_counts
from ._backends import reset_launch_counts as reset_launch_counts
from ._backends import triton_available as triton_available
from .convolution._short_convolution import short_convolution as short_convolution
from .delta._front import delta_product as delta_product
from .norms._normalise import l2_normalise as l2_normalise
from .norms._normalise import rms_normalise as rms_normalise
from .scans._diagonal import diagonal_scan as diagonal_scan
from .scans._rank_one import rank_one_scan as rank_one_scan
from .scans._selective import selective_scan as selective_scan
from .vectors._calling import Contract as Contract
from .vectors._check import check_vectors as check_vectors
from .vectors._file import read_vectors as read_vectors
from .vectors._file import write_vectors as write_vectors
from .vectors._report import SkippedWords as SkippedWords
from .vectors._report import VectorReport as VectorReport
from .vectors._report import VectorVerdict as VectorVerdict

__all__: list[str]
