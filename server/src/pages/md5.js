// The digest of Subsonic's token authentication (RFC 1321); browsers have no MD5 of their own.
"use strict";

function md5(text) {
  const bytes = new TextEncoder().encode(text);
  const words = new Uint32Array((((bytes.length + 8) >> 6) + 1) * 16);
  bytes.forEach((byte, at) => { words[at >> 2] |= byte << ((at % 4) * 8); });
  words[bytes.length >> 2] |= 0x80 << ((bytes.length % 4) * 8);
  words[words.length - 2] = bytes.length * 8;
  const turns = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
  let state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let block = 0; block < words.length; block += 16) {
    let [a, b, c, d] = state;
    for (let step = 0; step < 64; step++) {
      const round = step >> 4;
      const mixed = [(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)][round];
      const word = [step, 5 * step + 1, 3 * step + 5, 7 * step][round] % 16;
      const constant = Math.floor(Math.abs(Math.sin(step + 1)) * 4294967296);
      const sum = (a + mixed + constant + words[block + word]) | 0;
      const turn = turns[round * 4 + (step % 4)];
      [a, d, c, b] = [d, c, b, (b + ((sum << turn) | (sum >>> (32 - turn)))) | 0];
    }
    state = [state[0] + a, state[1] + b, state[2] + c, state[3] + d].map((sum) => sum | 0);
  }
  const digits = state.flatMap((word) => [0, 8, 16, 24].map((shift) => (word >>> shift) & 255));
  return digits.map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
