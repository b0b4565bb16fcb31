"""How kernels are compiled."""

import warnings
from contextlib import suppress


def _without_runtime() -> dict[str, bool]:
    """The option that compiles without Numba's runtime, or none where Numba does not have it.

    Without the runtime there is no reference counting, which would cost more than the step itself; in return a
    kernel allocates nothing. The option is not public, and an unknown one is refused at the first call only.
    """
    with suppress(ImportError):
        from numba.core.cpu import CPUTargetOptions

        if hasattr(CPUTargetOptions, "_nrt"):
            return {"_nrt": False}
    warnings.warn("This version of Numba has no option _nrt; kernels will be slower.", RuntimeWarning, stacklevel=2)
    return {}


WITHOUT_RUNTIME = _without_runtime()
