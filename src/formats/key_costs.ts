import { isDigit } from "../core/json/scan.ts";

/**
 * Steps of parsing one key. The engine describes an object by its keys in their order. A key that
 * no earlier object had after the same keys makes a new description, which takes 2 µs and 200
 * bytes. A key that is an index of an array makes none, but up to 35 places, which take 360 bytes.
 * The gateway reads each key with an escape a second time, which takes 3 µs more.
 */
const STEPS = { known: 1, index: 15, new: 30, escaped: 100 } as const;

/**
 * Maximum number of descriptions of one text; each further one is new. A text that may be parsed
 * has fewer.
 */
const MAX_DESCRIPTIONS = 128 * 1024;

/** Random, so that a text cannot be written with keys whose digests are equal. */
const [SEED = 0, FACTOR = 0] = crypto.getRandomValues(new Int32Array(2));

const BACKSLASH = 92;

/**
 * Returns a counter of what the keys of one JSON text take to be parsed. Its memory does not depend
 * on the text.
 */
export function newKeyCosts() {
  /** Digest of the keys so far of the object at each level. */
  const digests: number[] = [];
  const known = new Set<number>();
  let key = SEED;
  let isEscaped = false;
  /** True while the key has digits alone. */
  let isIndex = true;

  return {
    /** An object begins at this level. */
    begin(depth: number): void {
      digests[depth] = SEED;
    },
    /** Adds a byte of the current key. */
    add(code: number): void {
      key = mixed(key ^ code);
      isEscaped ||= code === BACKSLASH;
      isIndex &&= isDigit(code);
    },
    /** Ends the current key, of an object at this level. Returns its steps. */
    end(depth: number): number {
      const digest = mixed((digests[depth] ?? 0) ^ key);
      const plain = isIndex ? STEPS.index : STEPS.known;
      const steps = isEscaped ? STEPS.escaped : known.has(digest) ? plain : STEPS.new;
      if (known.size < MAX_DESCRIPTIONS) known.add(digest);
      digests[depth] = digest;
      key = SEED;
      isEscaped = false;
      isIndex = true;
      return steps;
    },
  };
}

function mixed(digest: number): number {
  const product = Math.imul(digest, FACTOR | 1);
  return product ^ (product >>> 15);
}
