"""Physics as tests: the flow, the odor in it, and runs that can be cut and joined."""

import numpy as np
import pytest

from whiffclock.params import InputError
from whiffclock.plume.simulate import flow as kernel
from whiffclock.plume.simulate.channel import ChannelFlow
from whiffclock.plume.simulate.filament_kernels import concentration, interpolate
from whiffclock.plume.simulate.filaments import Filaments
from whiffclock.plume.simulate.recipe import FlowSettings, OdorSettings, SimulationSettings
from whiffclock.plume.simulate.record import Simulation, simulate

SMALL = FlowSettings(points=(16, 16, 12), period=(3.0, 3.0))


def flow_after(steps, dt=0.5, settings=SMALL, seed=0):
    flow = ChannelFlow(settings, np.random.default_rng(seed))
    for _ in range(steps):
        flow.step(dt)
    return flow


def along_and_across(flow):
    """Velocity over the ground, along and across the wind, at cell centres [i, j, k]."""
    u = (flow.u + np.roll(flow.u, 1, axis=0))[:, :, 1:-1] / 2 + flow.frame[0]
    v = (flow.v + np.roll(flow.v, 1, axis=1))[:, :, 1:-1] / 2 + flow.frame[1]
    return u * flow.cosine + v * flow.sine, v * flow.cosine - u * flow.sine


def test_the_flow_is_free_of_divergence_to_round_off():
    flow = flow_after(20)
    gradient = flow.settings.wind / min(flow.dx, flow.dy)
    assert np.abs(flow.w).max() > 0.01
    kernel.divergence(flow.u, flow.v, flow.w, np.float32(flow.dx), np.float32(flow.dy), flow.dz, flow._div)
    assert np.abs(flow._div).max() < 20 * np.finfo(np.float32).eps * gradient


def test_the_flux_is_constant_and_nothing_crosses_ground_or_top():
    flow = flow_after(20)
    share = np.diff(flow.faces) / flow.settings.depth
    along, across = along_and_across(flow)
    assert along.mean(axis=(0, 1)) @ share == pytest.approx(flow.settings.wind, rel=1e-6)
    assert across.mean(axis=(0, 1)) @ share == pytest.approx(0, abs=1e-6)
    assert (flow.w[:, :, 0] == 0).all()
    assert (flow.w[:, :, -2] == 0).all()


def test_the_kernel_is_the_equations():
    """Right-hand sides against plain numpy differences on a random field."""
    flow = flow_after(2)
    kernel.fill_ghosts(flow.u, flow.v, np.float32(-flow.frame[0]), np.float32(-flow.frame[1]))
    out = [np.zeros_like(flow.u) for _ in range(3)]
    frame = [np.float32(c) for c in flow.frame]
    drag = np.full(flow.u.shape[2], 0.03, dtype=np.float32)
    kernel.momentum(flow.u, flow.v, flow.w, *frame, drag, flow.nu, flow.dx, flow.dy, flow.dz, flow.dzc, *out)
    expected = plain_momentum(flow, drag)
    for got, want, inside in zip(out, expected, (slice(1, -1), slice(1, -1), slice(1, -2)), strict=True):
        assert np.allclose(got[:, :, inside], want[:, :, inside], atol=2e-6)


def plain_momentum(flow, drag):
    """Central differences in divergence form, whole arrays at a time."""
    u, v, w = (c.astype(float) for c in (flow.u, flow.v, flow.w))
    dx, dy, dz, dzc, nu = flow.dx, flow.dy, flow.dz.astype(float), flow.dzc.astype(float), flow.nu

    def at(f, i=0, j=0, k=0):
        return np.roll(f, (-i, -j, -k), axis=(0, 1, 2))

    def mean(f, **shift):
        return (f + at(f, **shift)) / 2

    def spread(f, up, down):
        along = (at(f, 1) - 2 * f + at(f, -1)) / dx**2 + (at(f, j=1) - 2 * f + at(f, j=-1)) / dy**2
        return nu * (along + up - down)

    def layers(f):
        return (at(f, k=1) - f) / dzc / dz, (f - at(f, k=-1)) / np.roll(dzc, 1) / dz

    uu = mean(u, i=1) ** 2
    uv = mean(v, i=1) * mean(u, j=1)
    uw = mean(w, i=1) * mean(u, k=1)
    vw = mean(w, j=1) * mean(v, k=1)
    speed_u, cross_v = u + flow.frame[0], mean(mean(v, i=1), j=-1) + flow.frame[1]
    speed_v, cross_u = v + flow.frame[1], mean(mean(u, i=-1), j=1) + flow.frame[0]
    fu = -(uu - at(uu, -1)) / dx - (uv - at(uv, j=-1)) / dy - (uw - at(uw, k=-1)) / dz + spread(u, *layers(u))
    fu -= drag * np.hypot(speed_u, cross_v) * speed_u
    vv = mean(v, j=1) ** 2
    fv = -(uv - at(uv, -1)) / dx - (vv - at(vv, j=-1)) / dy - (vw - at(vw, k=-1)) / dz + spread(v, *layers(v))
    fv -= drag * np.hypot(speed_v, cross_u) * speed_v
    ww = mean(w, k=1) ** 2
    up, down = (at(w, k=1) - w) / np.roll(dz, -1) / dzc, (w - at(w, k=-1)) / dz / dzc
    fw = -(uw - at(uw, -1)) / dx - (vw - at(vw, j=-1)) / dy - (ww - at(ww, k=-1)) / dzc + spread(w, up, down)
    return fu, fv, fw


def test_refinement_in_time_converges():
    """Halving the step cuts the error of the velocity by eight: third order."""
    finest, coarse, fine = (flow_after(n, 0.8 / n).u[:, :, 1:-1] for n in (32, 1, 2))
    assert np.abs(coarse - finest).max() == pytest.approx(8 * np.abs(fine - finest).max(), rel=0.1)


def test_laminar_flow_is_the_parabola():
    """At a low Reynolds number the mean profile is that of Poiseuille, to second order in the spacing."""
    errors = []
    for nz in (8, 16):
        settings = FlowSettings(
            points=(8, 8, nz), period=(1.0, 1.0), reynolds=8.0, roughness_drag=0.0, depth=8.0, stretching=0.0
        )
        flow = flow_after(600, 0.05, settings)
        z = flow.heights[1:-1] / 8.0
        exact = 1.5 * flow.settings.wind * (2 * z - z**2)
        errors.append(np.abs(along_and_across(flow)[0].mean(axis=(0, 1)) - exact).max() / flow.settings.wind)
    assert errors[1] < 0.01
    assert errors[1] < errors[0] / 3


class Pushed(ChannelFlow):
    """Adds up the velocity along the wind that the force has given to keep the flux: what friction has taken."""

    push = 0.0

    def _hold_flux(self):
        before = self._mean_wind()
        super()._hold_flux()
        self.push += self._mean_wind() - before

    def _mean_wind(self):
        share = np.diff(self.faces) / self.settings.depth
        u, v = (f[:, :, 1:-1].mean(axis=(0, 1), dtype=np.float64) @ share for f in (self.u, self.v))
        return u * self.cosine + v * self.sine


def test_a_smooth_wall_has_the_published_turbulence():
    """Mean profile and fluctuations of Kim, Moin and Moser (1987) at Re_tau = 180.

    They have U_b / u_tau = 15.6, peaks of the fluctuations u+ 2.65, spanwise 1.08, wall-normal 0.84, and a log
    layer with U+ = 13.4 at z+ = 30. A coarse grid of second order earns ten per cent.
    """
    settings = FlowSettings(
        points=(48, 48, 32), period=(6.0, 3.0), depth=16.0, reynolds=2800.0, roughness_drag=0.0, stretching=1.8
    )
    flow = Pushed(settings, np.random.default_rng(0))
    kept = []
    for i in range(1500):
        flow.push = 0.0
        flow.step(1.0)
        if i >= 700 and i % 10 == 0:
            along, across = along_and_across(flow)
            squares = [(f**2).mean(axis=(0, 1)) for f in (along, across, flow.w[:, :, 1:-1])]
            kept.append([along.mean(axis=(0, 1)), *squares, np.full(32, flow.push * settings.depth)])
    mean, uu, vv, ww, friction = np.mean(kept, axis=0)
    u_tau = np.sqrt(friction[0])
    z_plus = flow.heights[1:-1] * u_tau / flow.nu
    assert settings.wind / u_tau == pytest.approx(15.6, rel=0.1)
    assert np.sqrt(uu - mean**2).max() / u_tau == pytest.approx(2.65, rel=0.1)
    assert np.sqrt(vv).max() / u_tau == pytest.approx(1.08, rel=0.1)
    assert np.sqrt(ww).max() / u_tau == pytest.approx(0.84, rel=0.1)
    assert np.interp(30, z_plus, mean) / u_tau == pytest.approx(13.4, rel=0.1)
    assert np.interp(5, z_plus, mean) / u_tau == pytest.approx(5.0, rel=0.1)


def test_interpolation_is_exact_for_linear_fields():
    heights = np.array([-0.5, 0.5, 2.0, 4.0])
    i, j, z = np.meshgrid(np.arange(6), np.arange(5), heights, indexing="ij")
    field = (2 * i - 3 * j + 0.5 * z).astype(np.float32)
    for x, y, at in ((1.25, 2.5, 0.1), (0.0, 3.0, 3.9), (4.9, 0.1, 0.5)):
        assert interpolate(field, x, y, at, heights) == pytest.approx(2 * x - 3 * y + 0.5 * at, abs=1e-5)


def test_a_slice_holds_the_filaments_odor():
    """Away from ground and top, the slices of a filament add up to its strength."""
    total = 0.0
    for height in np.arange(0.5, 7.5, 0.1):
        out = np.zeros((21, 21))
        concentration(np.array([[0.3, -0.2, 4.0]]), np.array([0.4]), 7.0, height, 8.0, 10, 10, out)
        total += out.sum() * 0.1
    assert total == pytest.approx(7.0, rel=0.01)


def test_ground_and_top_reflect_odor():
    """However wide a filament is, all of it stays between ground and top."""
    total = 0.0
    for height in np.arange(0.05, 8.0, 0.1):
        out = np.zeros((31, 31))
        concentration(np.array([[0.3, -0.2, 0.6]]), np.array([3.0]), 7.0, height, 8.0, 15, 15, out)
        total += out.sum() * 0.1
    assert total == pytest.approx(7.0, rel=0.01)


@pytest.mark.parametrize("height", [0.1, 4.0])
def test_filaments_are_conserved_between_source_and_outflow(height):
    """Nobody is lost but to the outflow, even with a walk that leads many to the ground."""
    flow = flow_after(10)
    odor = Filaments(OdorSettings(walk=0.1, source_height=height), 200, 200, np.random.default_rng(0))
    for _ in range(20):
        odor.release(flow, 5, 0.5)
        odor.predict(flow)
        flow.step(0.5)
        odor.correct(flow, 0.5)
    assert len(odor.age) == 100
    assert (odor.position[:, 2] >= 0).all()
    assert (odor.position[:, 2] <= flow.settings.depth).all()
    if height > 1:
        assert odor.position[:, 0].mean() == pytest.approx(odor.age.mean() * flow.settings.wind, rel=0.5)


def short(**changes):
    return SimulationSettings(
        snapshots=6, length=20, width=9, spin_up=2, fill=12, flow=SMALL, odor=OdorSettings(filaments=20), **changes
    )


def test_a_run_that_was_cut_is_the_run_in_one_go(tmp_path):
    whole = simulate(short())
    run = Simulation(short())
    for _ in range(16):
        run.advance()
    run.save(tmp_path / "checkpoint")
    joined = simulate(short(), tmp_path / "checkpoint")
    assert np.array_equal(whole.field, joined.field)
    assert not np.array_equal(whole.field, simulate(short(seed=1)).field)
    with pytest.raises(InputError, match="other settings"):
        simulate(short(seed=2), tmp_path / "checkpoint")
    assert "simulated by whiffclock" in whole.origin


@pytest.mark.parametrize("name", ["u", "shift", "age", "gust", "field"])
def test_a_damaged_checkpoint_is_refused(tmp_path, name):
    run = Simulation(short())
    for _ in range(15):
        run.advance()
    run.save(tmp_path / "checkpoint")
    with np.load(tmp_path / "checkpoint") as archive:
        arrays = dict(archive)
    for cut, says in (({**arrays, name: arrays[name][1:]}, "damaged"), ({name: arrays[name]}, "not a saved")):
        with (tmp_path / "checkpoint").open("wb") as file:
            np.savez(file, **cut)
        with pytest.raises(InputError, match=says):
            simulate(short(), tmp_path / "checkpoint")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: FlowSettings(points=(15, 16, 12)), "even numbers"),
        (lambda: FlowSettings(wind=0.0), "wind is 0"),
        (lambda: OdorSettings(size=-1.0), "size is -1"),
        (lambda: SimulationSettings(odor=OdorSettings(source_height=15.0)), "below the top"),
        (lambda: SimulationSettings(snapshots=1), "at least 2"),
    ],
)
def test_impossible_simulations_are_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()


@pytest.mark.parametrize("name", ["spin_up", "fill"])
def test_a_simulation_that_would_never_end_is_refused(name):
    with pytest.raises(InputError, match=f"{name} is {2**63 - 1}; it must"):
        SimulationSettings(**{name: 2**63 - 1})
    with pytest.raises(InputError, match=f"{name} is -1"):
        SimulationSettings(**{name: -1})
