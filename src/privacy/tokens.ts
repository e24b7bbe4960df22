import { createHmac } from "node:crypto";
import type { Tokens, TokenValue } from "./types.ts";
import { CONSONANTS, SYLLABLE_COUNT, VOWELS } from "./token_form.ts";

/** Maximum number of different values of a call. */
export const MAX_VALUE_COUNT = 10_000;

/** Returns the tokens of a call, which are the same for the same secret, scope, label and value. */
export function newTokens(secret: Uint8Array): Tokens {
  const byCore = new Map<string, TokenValue>();
  const byValue = new Map<string, TokenValue>();

  function newToken(value: string, label: string, scope: string): TokenValue {
    let counter = 0;
    let core = coreOf(secret, scope, label, counter, value);
    while (byCore.has(core)) core = coreOf(secret, scope, label, ++counter, value);
    return { core, label, value };
  }

  return {
    get size() {
      return byCore.size;
    },
    get: (core) => byCore.get(core),
    values: () => byCore.values(),
    take(value, label, scope, known) {
      const own = byValue.get(value);
      if (own !== undefined) return own;
      if (byCore.size >= MAX_VALUE_COUNT) return null;
      const isKept = known?.label === label && !byCore.has(known.core);
      const added = isKept ? known : newToken(value, label, scope);
      byCore.set(added.core, added);
      byValue.set(value, added);
      return added;
    },
  };
}

function coreOf(
  secret: Uint8Array,
  scope: string,
  label: string,
  counter: number,
  value: string,
): string {
  const digest = createHmac("sha256", secret)
    .update(JSON.stringify(["switchyard.privacy.1", scope, label, counter, value]))
    .digest();
  const base = BigInt(CONSONANTS.length * VOWELS.length);
  let rest = digest.readBigUInt64BE();
  let core = "qz";
  for (let count = 0; count < SYLLABLE_COUNT; count++) {
    const syllable = Number(rest % base);
    rest /= base;
    core += CONSONANTS.charAt(Math.floor(syllable / VOWELS.length)) +
      VOWELS.charAt(syllable % VOWELS.length);
  }
  return core;
}
