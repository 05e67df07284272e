// Keccak-256 as in Ethereum (with the padding of the competition, not of SHA-3), in BigInt. Only for the
// playground's throw-away keys, because it is slow.

const MASK = (1n << 64n) - 1n;
const RATE = 136; // Bytes that one round of input takes.

const rotate = (lane, by) => ((lane << by) | (lane >> (64n - by))) & MASK;

// The constants are computed: a linear feedback register gives the constant of each round (FIPS 202,
// algorithm 5), and a walk over the lanes gives their rotations (algorithm 2).
const ROUNDS = roundConstants();
const WALK = walk();

function roundConstants() {
  const constants = [];
  let register = 1;
  for (let round = 0; round < 24; round += 1) {
    let constant = 0n;
    for (let power = 0; power < 7; power += 1) {
      if (register & 1) constant |= 1n << ((1n << BigInt(power)) - 1n);
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0);
    }
    constants.push(constant);
  }
  return constants;
}

function walk() {
  const steps = [];
  let [x, y] = [1, 0];
  for (let step = 1; step <= 24; step += 1) {
    const next = [y, (2 * x + 3 * y) % 5];
    steps.push({ to: next[0] + 5 * next[1], by: BigInt(((step * (step + 1)) / 2) % 64) });
    [x, y] = next;
  }
  return steps;
}

function permute(lanes) {
  for (const constant of ROUNDS) {
    const columns = [0, 1, 2, 3, 4].map((x) => lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]);
    for (let x = 0; x < 5; x += 1) {
      const mixed = columns[(x + 4) % 5] ^ rotate(columns[(x + 1) % 5], 1n);
      for (let y = 0; y < 25; y += 5) lanes[x + y] ^= mixed;
    }
    let carried = lanes[1];
    for (const { to, by } of WALK) [carried, lanes[to]] = [lanes[to], rotate(carried, by)];
    for (let y = 0; y < 25; y += 5) {
      const row = lanes.slice(y, y + 5);
      for (let x = 0; x < 5; x += 1) lanes[y + x] = row[x] ^ (~row[(x + 1) % 5] & MASK & row[(x + 2) % 5]);
    }
    lanes[0] ^= constant;
  }
}

/** The hash, 32 bytes. */
export function keccak256(bytes) {
  const padded = new Uint8Array((Math.floor(bytes.length / RATE) + 1) * RATE);
  padded.set(bytes);
  padded[bytes.length] ^= 0x01;
  padded[padded.length - 1] ^= 0x80;
  const lanes = new Array(25).fill(0n);
  const view = new DataView(padded.buffer);
  for (let start = 0; start < padded.length; start += RATE) {
    for (let lane = 0; lane < RATE / 8; lane += 1) lanes[lane] ^= view.getBigUint64(start + 8 * lane, true);
    permute(lanes);
  }
  const hash = new DataView(new ArrayBuffer(32));
  for (let lane = 0; lane < 4; lane += 1) hash.setBigUint64(8 * lane, lanes[lane], true);
  return new Uint8Array(hash.buffer);
}
