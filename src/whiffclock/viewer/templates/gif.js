/* GIF, as in its specification of 1989: few colours, and LZW. Pixels that have not changed since the last frame are transparent. */

const DEPTH = 6, COLOURS = 1 << DEPTH, SAME = COLOURS - 1; // the last colour is the transparent one

/* The most frequent colours of some pictures, told apart at 5 bits a channel; and the nearest of them for any colour. */
function paletteOf(pictures) {
  const seen = new Map();
  for (const { data } of pictures) {
    for (let i = 0; i < data.length; i += 4) {
      const key = ((data[i] >> 3) << 10) | ((data[i + 1] >> 3) << 5) | (data[i + 2] >> 3), one = seen.get(key);
      if (one) one.times += 1; else seen.set(key, { times: 1, colour: [data[i], data[i + 1], data[i + 2]] });
    }
  }
  const chosen = [...seen.values()].sort((a, b) => b.times - a.times).slice(0, SAME).map((one) => one.colour);
  const known = new Int16Array(32768).fill(-1);
  const nearest = (key) => {
    const [r, g, b] = [key >> 10, (key >> 5) & 31, key & 31].map((v) => 8 * v + 4);
    let best = 0, least = Infinity;
    chosen.forEach((c, i) => {
      const far = 2 * (c[0] - r) ** 2 + 4 * (c[1] - g) ** 2 + 3 * (c[2] - b) ** 2;
      if (far < least) [best, least] = [i, far];
    });
    return best;
  };
  const index = (r, g, b) => {
    const key = ((r >> 3) << 10) | ((g >> 3) << 5) | (b >> 3);
    return known[key] < 0 ? (known[key] = nearest(key)) : known[key];
  };
  return { chosen, index };
}

/* LZW with codes of up to 12 bits, in blocks of up to 255 bytes. A pixel that has not changed is transparent, or has its
   colour again, whatever makes the string that is read longer. */
function lzw(values, before, out) {
  const CLEAR = COLOURS, END = CLEAR + 1;
  let bits = 0, held = 0, block = [], size = DEPTH + 1, next = END + 1, codes = new Map();
  const flush = () => { if (block.length) out.push(block.length, ...block); block = []; };
  const emit = (code) => {
    held |= code << bits;
    bits += size;
    for (; bits >= 8; bits -= 8, held >>>= 8) {
      block.push(held & 255);
      if (block.length === 255) flush();
    }
  };
  out.push(DEPTH);
  emit(CLEAR);
  let prefix = values[0];
  for (let i = 1; i < values.length; i++) {
    const same = before && before[i] === values[i], key = (prefix << 8) | (same ? SAME : values[i]);
    const code = codes.get(key) ?? (same ? codes.get((prefix << 8) | values[i]) : undefined);
    if (code !== undefined) { prefix = code; continue; }
    emit(prefix);
    codes.set(key, next++);
    if (next === 4097) { emit(CLEAR); [codes, next, size] = [new Map(), END + 1, DEPTH + 1]; } else if (next > 1 << size) size += 1;
    prefix = key & 255;
  }
  emit(prefix);
  if (next + 1 > 1 << size && size < 12) size += 1;
  emit(END);
  if (bits) block.push(held & 255);
  flush();
  out.push(0);
}

/* Frames, one after the other, to the bytes of a GIF; `hundredths` of a second each. */
class Gif {
  constructor(width, height, palette, hundredths) {
    Object.assign(this, { width, height, palette, hundredths, last: null });
    const word = (v) => [v & 255, v >> 8], colours = [...palette.chosen, ...Array(COLOURS - palette.chosen.length).fill([0, 0, 0])];
    this.out = [..."GIF89a"].map((c) => c.charCodeAt(0)).concat(word(width), word(height), [0xf0 | (DEPTH - 1), 0, 0], colours.flat(),
      [0x21, 0xff, 11], [..."NETSCAPE2.0"].map((c) => c.charCodeAt(0)), [3, 1, 0, 0, 0]);
    this.parts = [];
  }
  add({ data }, hundredths = this.hundredths) {
    const now = new Uint8Array(this.width * this.height), { index } = this.palette;
    for (let i = 0; i < now.length; i++) now[i] = index(data[4 * i], data[4 * i + 1], data[4 * i + 2]);
    const word = (v) => [v & 255, v >> 8];
    this.out.push(0x21, 0xf9, 4, 5, ...word(hundredths), SAME, 0, 0x2c, 0, 0, 0, 0, ...word(this.width), ...word(this.height), 0);
    lzw(now, this.last, this.out);
    this.last = now;
    this.parts.push(Uint8Array.from(this.out));
    this.out = [];
  }
  blob() { return new Blob([...this.parts, new Uint8Array([0x3b])], { type: "image/gif" }); }
}
