import type { KeyRefusal } from "../core/failure/failure.ts";
import type { Provider, ProviderAccount } from "../wires/wire.ts";
import type { Call } from "../call/call.ts";

/** A refusal of a key, with its `Retry-After` in milliseconds. */
export interface RefusedKey {
  readonly refusal: KeyRefusal;
  readonly retryAfterMs: number | null;
}

/**
 * Returns the trial of a request that is sent with one key of a pool after the other; `model` may
 * be empty. A refused key rests once another key has served the same request: what no key serves
 * says nothing of the keys, and one client could let all of them rest otherwise. Until then the
 * other keys come first, because the keys may be the reason as well. A key that is wrong for
 * certain rests at once.
 */
export function newKeyTrial(
  { state: { keyRests } }: Pick<Call, "state">,
  { id: provider, settings: { key_rest: restMs } }: Provider,
  model: string,
) {
  const refusals: (RefusedKey & { readonly account: ProviderAccount })[] = [];

  function begin({ name, digest }: ProviderAccount, { refusal, retryAfterMs }: RefusedKey) {
    const key = { provider, name, account: digest };
    keyRests.begin(key, refusal, { restMs, retryAfterMs });
  }

  return {
    /**
     * Records that a key was refused. Returns false if the request is the likely reason, so that no
     * other key is used.
     */
    refused(account: ProviderAccount, refused: RefusedKey): boolean {
      if (refused.refusal.isCertain === true) {
        begin(account, refused);
        return true;
      }
      const same = refusals.filter(({ refusal }) => isSameRefusal(refusal, refused.refusal));
      refusals.push({ ...refused, account });
      if (same.length === 0) return true;
      for (const one of [...same, { account }]) keyRests.doubt(one.account.digest, restMs);
      return false;
    },
    /**
     * Records that a key has served the request: the refused keys rest, unless this one rests by
     * now.
     */
    served(account: ProviderAccount): void {
      keyRests.served(account.digest, model);
      // Else two requests at once, each refused by the key that serves the other one, would let
      // both keys rest.
      if (keyRests.find(account.digest, model) !== null) return;
      for (const refused of refusals) begin(refused.account, refused);
    },
  };
}

/** True if two keys were refused for the same reason. */
export function isSameRefusal(one: KeyRefusal, other: KeyRefusal): boolean {
  return one.status === other.status && one.code === other.code;
}
