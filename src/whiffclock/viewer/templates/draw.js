/* Canvases, colours and the moth: what all pictures share. */

const $ = (id) => document.getElementById(id);
const theme = {};
const calm = matchMedia("(prefers-reduced-motion: reduce)");

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "text", "soft", "line", "wash", "paper", "field", "accent", "smoke", "source", "upwind",
    "across", "downwind", "halo", "denser", "dense", "sparse", "sparser", "bad", "low", "high", "sans", "serif"])
    theme[name] = style.getPropertyValue(`--${name}`).trim();
  [theme.label, theme.least] = ["--label", "--least"].map((name) => parseFloat(style.getPropertyValue(name)));
  theme.racers = [1, 2, 3, 4].map((i) => style.getPropertyValue(`--racer-${i}`).trim());
  theme.moves = [theme.upwind, theme.across, theme.across, theme.downwind];
}

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
const mixed = (a, b, share) => `rgb(${rgb(a).map((v, i) => Math.round(v + share * (rgb(b)[i] - v))).join(" ")})`;
const font = (size = 1, weight = 400, family = theme.sans) => `${weight} ${Math.round(Math.max(size * theme.label, theme.least))}px ${family}`;

/* A colour for each environment, from dense to sparse; names of the paper have the paper's colours. */
function environmentColour(environments, index) {
  const ramp = ["denser", "dense", "sparse", "sparser"], { name } = environments[index];
  if (ramp.includes(name)) return theme[name];
  return theme[ramp[environments.length < 2 ? 2 : Math.round((3 * index) / (environments.length - 1))]];
}

/* The drawing context of a canvas at the screen's resolution, and its size in CSS pixels. */
function fitted(canvas) {
  const ratio = canvas.ratio ?? Math.min(devicePixelRatio || 1, 2), w = canvas.clientWidth || canvas.wide, h = canvas.clientHeight || canvas.high;
  const [wide, high] = [Math.round(w * ratio), Math.round(h * ratio)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, w, h);
  return { g, w, h };
}

/* Text with a halo of the background, so that it can be read on a picture. */
function words(g, text, x, y, { colour = theme.ink, size = 1, weight = 400, align = "center", baseline = "middle", family } = {}) {
  g.font = font(size, weight, family);
  g.textAlign = align;
  g.textBaseline = baseline;
  g.lineJoin = "round";
  g.lineWidth = 4;
  g.strokeStyle = theme.halo;
  g.strokeText(text, x, y);
  g.fillStyle = colour;
  g.fillText(text, x, y);
}

/* The agent: a moth seen from above, heading along `angle`; its wings beat with `beat`. */
function moth(g, x, y, angle, size, colour, beat = 0) {
  g.save();
  g.translate(x, y);
  g.rotate(angle);
  const spread = 1 - 0.28 * Math.abs(Math.sin(beat));
  g.lineWidth = 2.5;
  g.strokeStyle = theme.halo;
  g.fillStyle = colour;
  for (const side of [-1, 1]) {
    g.beginPath();
    g.moveTo(size * 0.28, 0);
    g.bezierCurveTo(size * 0.35, side * size * 0.9 * spread, -size * 0.25, side * size * 1.15 * spread, -size * 0.45, side * size * 0.75 * spread);
    g.bezierCurveTo(-size * 0.3, side * size * 0.5 * spread, -size * 0.6, side * size * 0.45 * spread, -size * 0.72, side * size * 0.2);
    g.lineTo(-size * 0.4, 0);
    g.closePath();
    g.stroke();
    g.fill();
  }
  g.beginPath();
  g.ellipse(-size * 0.05, 0, size * 0.5, size * 0.12, 0, 0, 7);
  g.stroke();
  g.fillStyle = theme.ink;
  g.fill();
  g.lineWidth = 1.2;
  g.strokeStyle = theme.ink;
  for (const side of [-1, 1]) {
    g.beginPath();
    g.moveTo(size * 0.4, 0);
    g.quadraticCurveTo(size * 0.62, side * size * 0.08, size * 0.72, side * size * 0.26);
    g.stroke();
  }
  g.restore();
}

/* An arrow for a move, upwind to the left. */
function arrow(g, action, x, y, size, colour) {
  const [dx, dy] = MOVES[action], angle = Math.atan2(-dy, dx);
  g.save();
  g.translate(x, y);
  g.rotate(angle);
  g.strokeStyle = colour;
  g.lineWidth = Math.max(1.5, size * 0.22);
  g.lineCap = g.lineJoin = "round";
  g.beginPath();
  g.moveTo(-size, 0);
  g.lineTo(size, 0);
  g.moveTo(size * 0.35, -size * 0.55);
  g.lineTo(size, 0);
  g.lineTo(size * 0.35, size * 0.55);
  g.stroke();
  g.restore();
}
