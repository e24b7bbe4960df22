/** Samples per second, of 8 bits each. */
const SAMPLES_PER_S_RATIO = 8_000;

/** Length of the tone of half a byte in samples: 10 ms. */
const TONE_COUNT = 80;

const HEAD_BYTES = 44;

/** The tone of each half of a byte. */
const TONES = Array.from(
  { length: 16 },
  (_tone, half) =>
    Uint8Array.from({ length: TONE_COUNT }, (_sample, at) => {
      // The phase keeps every sample from zero.
      const wave = Math.sin((2 * Math.PI * (half + 1) * (at + 0.25)) / TONE_COUNT);
      return Math.round(128 + 100 * wave);
    }),
);

/**
 * Returns a WAV file with a tone for each half of a byte of a text: the higher the value, the
 * higher the tone. `textOfTone` reads the text back.
 */
export function toneOf(text: string): Uint8Array<ArrayBuffer> {
  const halves = [...new TextEncoder().encode(text)].flatMap((byte) => [byte >> 4, byte & 15]);
  const size = halves.length * TONE_COUNT;
  const wav = new Uint8Array(HEAD_BYTES + size);
  const view = new DataView(wav.buffer);
  const write = (at: number, name: string) => wav.set(new TextEncoder().encode(name), at);
  write(0, "RIFF");
  view.setUint32(4, HEAD_BYTES - 8 + size, true);
  write(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, SAMPLES_PER_S_RATIO, true);
  view.setUint32(28, SAMPLES_PER_S_RATIO, true);
  view.setUint16(32, 1, true);
  view.setUint16(34, 8, true);
  write(36, "data");
  view.setUint32(40, size, true);
  for (const [index, half] of halves.entries()) {
    wav.set(TONES[half] ?? [], HEAD_BYTES + index * TONE_COUNT);
  }
  return wav;
}

/** Returns the text of a WAV file of `toneOf`; null for any other file. */
export function textOfTone(
  wav: Uint8Array,
): { readonly text: string; readonly seconds: number } | null {
  const head = new TextDecoder().decode(wav.subarray(0, 4));
  const size = wav.length - HEAD_BYTES;
  if (head !== "RIFF" || size < 0 || size % (2 * TONE_COUNT) !== 0) return null;
  const halves: number[] = [];
  for (let start = HEAD_BYTES; start < wav.length; start += TONE_COUNT) {
    let rises = 0;
    for (let at = start + 1; at < start + TONE_COUNT; at++) {
      if ((wav[at - 1] ?? 0) < 128 && (wav[at] ?? 0) >= 128) rises += 1;
    }
    halves.push(rises);
  }
  const bytes = new Uint8Array(halves.length / 2);
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = ((halves[2 * at] ?? 0) << 4) | (halves[2 * at + 1] ?? 0);
  }
  return { text: new TextDecoder().decode(bytes), seconds: size / SAMPLES_PER_S_RATIO };
}
