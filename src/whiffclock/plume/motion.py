"""Motion of structures in a film: where they are some snapshots later, by cross-correlation.

From each cell its mean in time is removed, from each snapshot its mean in space, and heavy tails are cut. With a the
result, the correlation at lag L and displacement d is pooled over all pairs of snapshots and all cells x for which x
+ d is in the frame:

    rho(d) = sum a(t, x) a(t + L, x + d) / sqrt(sum a(t, x)^2 sum a(t + L, x + d)^2).

Displacements of up to half of the frame are searched, so the window is the frame. Where less than a tenth of the energy
overlaps, rho is lowered accordingly: a few cells say little. The lag is 1 first; it is doubled until structures have
moved by more than their own size, as long as they are still recognised. So slow motion is measured, too.

The record is cut into :data:`PARTS` contiguous parts, and each has to find the same motion by itself: that is the
confidence. In noise they do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whiffclock.params import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Parts of the record that have to agree.
PARTS = 4
#: Fewest cells that structures move before the lag grows no more.
FAR = 4.0
#: Below this correlation, structures are not recognised.
FAINT = 0.01
#: Standard deviations at which values are cut.
_TAILS = 3.0
#: Share of the energy that must overlap.
_OVERLAP = 0.1


@dataclass(frozen=True, eq=False)
class Motion:
    """Velocity along both axes of the frame, in cells per snapshot, and how sure it is."""

    velocity: tuple[float, float]
    lag: int  # snapshots after which displacements were measured
    peak: float  # correlation at the best displacement
    elsewhere: float  # the highest one in other directions, more than 45 degrees off
    inside: bool  # whether the maximum is inside the window, rather than at its border
    agreeing: float  # share of the parts that find the same motion by themselves
    moves: bool  # whether there is a motion at all
    rho: NDArray[np.float64]  # correlation by displacement: the middle is none

    @property
    def speed(self) -> float:
        """Cells per snapshot."""
        return math.hypot(*self.velocity)

    @property
    def confidence(self) -> str:
        """``"sure"``, ``"likely"`` or ``"unclear"``."""
        if not self.moves or not self.inside:
            return "unclear"
        return "sure" if self.agreeing == 1 and self.peak > 1.1 * self.elsewhere else "likely"


def motion(frames: np.ndarray) -> Motion:
    """The motion of structures in ``frames[t, a, b]``, some hundred contiguous snapshots.

    ``velocity`` is zero where nothing moves.
    """
    snapshots = len(frames)
    require(frames.ndim == 3 and snapshots >= 4, f"There are {snapshots} snapshots; a motion needs four at least.")
    pairs = _Pairs(anomalies(frames))
    size = _size(pairs.correlation(0))
    lag, found = 1, _measured(pairs, 1)
    while found.speed * lag < max(FAR, size) and 2 * lag <= snapshots // 3:
        further = _measured(pairs, 2 * lag)
        ahead = np.subtract(further.velocity, found.velocity) * 2 * lag
        lost = found.moves and (not further.moves or np.hypot(*ahead) > max(1.5, found.speed * lag))
        if lost or (further.peak < FAINT and not found.moves):
            break
        lag, found = 2 * lag, further
    return found


def anomalies(frames: np.ndarray) -> np.ndarray:
    """What changes: ``frames`` minus the mean of each cell, then of each snapshot, with heavy tails cut."""
    values = frames.astype(np.float32)
    values -= values.mean(axis=0, dtype=np.float64).astype(np.float32)
    deviation = float(values.std(dtype=np.float64))
    np.clip(values, -_TAILS * deviation, _TAILS * deviation, out=values)
    values -= values.mean(axis=(1, 2), keepdims=True, dtype=np.float64).astype(np.float32)
    return values


class _Pairs:
    """Spectra of snapshots, from which the correlation at any lag follows."""

    def __init__(self, values: np.ndarray) -> None:
        from scipy import fft

        self.values, self.frame = values, values.shape[1:]
        self.padded = [fft.next_fast_len(n + n // 2 + 1, real=True) for n in self.frame]
        self.spectra = np.stack([fft.rfft2(one, self.padded) for one in values])
        self.energy = np.square(values, dtype=np.float64).sum(axis=(1, 2))

    def correlation(self, lag: int, part: int | None = None) -> np.ndarray:
        """rho by displacement, of all pairs or those of one part; the middle of the array is no displacement."""
        count = len(self.values) - lag
        first, end = (0, count) if part is None else (part * count // PARTS, (part + 1) * count // PARTS)
        before, after = slice(first, end), slice(first + lag, end + lag)
        product = np.einsum("tab,tab->ab", self.spectra[before].conj(), self.spectra[after], dtype=np.complex128)
        squares = [np.square(self.values[some], dtype=np.float64).sum(axis=0) for some in (before, after)]
        inside = self._spectrum(np.ones(self.frame))
        earlier = self._window(self._spectrum(squares[0]).conj() * inside)  # those whose x + d is in the frame
        later = self._window(inside.conj() * self._spectrum(squares[1]))
        total = math.sqrt(squares[0].sum() * squares[1].sum())
        if total <= 0:
            return np.zeros_like(earlier)
        shared = np.sqrt(np.maximum(earlier, 0) * np.maximum(later, 0))
        return self._window(product) / np.maximum(shared, _OVERLAP * total)

    def _spectrum(self, values: np.ndarray) -> np.ndarray:
        from scipy import fft

        return np.asarray(fft.rfft2(values, self.padded))

    def _window(self, spectrum: np.ndarray) -> np.ndarray:
        """Displacements of up to half of the frame."""
        from scipy import fft

        whole = fft.fftshift(fft.irfft2(spectrum, self.padded))
        middle, reach = [n // 2 for n in self.padded], [n // 2 for n in self.frame]
        a, b = (slice(m - r, m + r + 1) for m, r in zip(middle, reach, strict=True))
        return np.asarray(whole[a, b])


def _measured(pairs: _Pairs, lag: int) -> Motion:
    """The motion at one lag."""
    rho = pairs.correlation(lag)
    place, inside = peak_place(rho)
    peak = float(rho.max())
    far = math.hypot(*place)
    others = [peak_place(pairs.correlation(lag, part))[0] for part in range(PARTS)]
    near = max(1.0, 0.3 * far)
    agreeing = float(np.mean([math.dist(place, other) <= near for other in others]))
    ahead, aside = (float(value) for value in place)
    a, b = np.indices(rho.shape) - np.array([n // 2 for n in rho.shape]).reshape(2, 1, 1)
    cosine = (a * ahead + b * aside) / (np.maximum(np.hypot(a, b), 1e-9) * max(far, 1e-9))
    other_way = (cosine < math.sqrt(0.5)) & (np.hypot(a, b) >= 0.5 * far)
    elsewhere = float(rho[other_way].max(initial=-1.0))
    agreed = agreeing == 1 or (agreeing >= 0.75 and peak > 1.2 * elsewhere)
    moves = inside and far >= 0.5 and peak >= FAINT and agreed and peak > elsewhere
    velocity = (ahead / lag, aside / lag) if moves else (0.0, 0.0)
    return Motion(velocity, lag, peak, elsewhere, inside, agreeing, moves, rho)


def peak_place(rho: np.ndarray) -> tuple[tuple[float, float], bool]:
    """The displacement of the maximum, refined by a parabola along each axis, and whether it is inside the window."""
    a, b = (int(i) for i in np.unravel_index(np.argmax(rho), rho.shape))
    inside = 0 < a < rho.shape[0] - 1 and 0 < b < rho.shape[1] - 1
    middle = rho.shape[0] // 2, rho.shape[1] // 2
    if not inside:
        return (float(a - middle[0]), float(b - middle[1])), False
    shifts = _parabola(*rho[a - 1 : a + 2, b]), _parabola(*rho[a, b - 1 : b + 2])
    return (a - middle[0] + shifts[0], b - middle[1] + shifts[1]), True


def _parabola(before: float, here: float, after: float) -> float:
    """Where the parabola through three values has its maximum, from the one in the middle."""
    curvature = 2 * here - before - after
    return float((after - before) / (2 * curvature)) if curvature > 0 else 0.0


def _size(rho: np.ndarray) -> float:
    """Size of structures: the radius of a disc with as many displacements as are correlated by half or more."""
    return math.sqrt(np.count_nonzero(rho >= 0.5) / math.pi)
