// Keys and signatures on the curve secp256k1, in BigInt. FOR THROW-AWAY KEYS ONLY: the running time depends
// on the key, so never use it with a valuable key.

const P = 2n ** 256n - 2n ** 32n - 977n;
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const G = {
  x: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  y: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
};
const NOWHERE = null; // The point at infinity.

const modulo = (value, by) => ((value % by) + by) % by;

/** The modular inverse, with the extended Euclidean algorithm. */
function inverse(value, by) {
  let [a, b] = [modulo(value, by), by];
  let [x, y] = [1n, 0n];
  while (b !== 0n) {
    const quotient = a / b;
    [a, b] = [b, a - quotient * b];
    [x, y] = [y, x - quotient * y];
  }
  return modulo(x, by);
}

function add(one, other) {
  if (one === NOWHERE) return other;
  if (other === NOWHERE) return one;
  const same = one.x === other.x;
  if (same && modulo(one.y + other.y, P) === 0n) return NOWHERE;
  const slope = same ? 3n * one.x * one.x * inverse(2n * one.y, P) : (other.y - one.y) * inverse(other.x - one.x, P);
  const x = modulo(slope * slope - one.x - other.x, P);
  return { x, y: modulo(slope * (one.x - x) - one.y, P) };
}

function times(scalar, point) {
  let [sum, power] = [NOWHERE, point];
  for (let left = scalar; left > 0n; left >>= 1n) {
    if (left & 1n) sum = add(sum, power);
    power = add(power, power);
  }
  return sum;
}

/** The number in big-endian bytes. */
export function numberOf(bytes) {
  return bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

/** A number as 32 big-endian bytes. */
export function bytesOf(number) {
  const bytes = new Uint8Array(32);
  for (let index = 31, left = number; index >= 0; index -= 1, left >>= 8n) bytes[index] = Number(left & 255n);
  return bytes;
}

/** A random number that can be a key: from 1 to less than the order of the curve. */
export function randomScalar() {
  for (;;) {
    const scalar = numberOf(crypto.getRandomValues(new Uint8Array(32)));
    if (scalar > 0n && scalar < N) return scalar;
  }
}

/** The public key: 64 bytes, without the byte for its format. */
export function publicKey(key) {
  const { x, y } = times(key, G);
  return new Uint8Array([...bytesOf(x), ...bytesOf(y)]);
}

/**
 * Signs a hash of 32 bytes. Returns r and s, with s in the lower half (EIP-2), and which of the two points it
 * was.
 */
export function sign(hash, key) {
  for (;;) {
    const nonce = randomScalar();
    const point = times(nonce, G);
    const r = modulo(point.x, N);
    const s = modulo(inverse(nonce, N) * (numberOf(hash) + r * key), N);
    // Above the order, x would need a third value of the recovery number. That happens once in 2^128.
    if (r === 0n || s === 0n || point.x >= N) continue;
    const odd = Number(point.y & 1n);
    return s > N / 2n ? { r, s: N - s, recovery: 1 - odd } : { r, s, recovery: odd };
  }
}
