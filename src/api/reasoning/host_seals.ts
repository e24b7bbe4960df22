import { createHash } from "node:crypto";
import type { JsonObject } from "../../core/json/json.ts";
import type { OwnedReasoning } from "../../core/stream/reasoning.ts";
import type { Generation } from "../../call/generation.ts";
import { isSigningHost, MAX_SIGNED_CHARS, namedBlock } from "../../wires/compat/host_reasoning.ts";
import type { Target } from "../../wires/wire.ts";

/** The account and model of which a host accepts what it has signed. */
export interface Signer {
  /** Tag of the account (`accountTag`). */
  readonly account: string;
  readonly model: string;
}

/** Signatures of a host in one response, until they are sealed for the client to send back. */
export interface HostSeals {
  push(block: JsonObject): void;
  /** Returns the blocks to seal before a call, by its position and the client's ID of it. */
  beforeCall(position: number, callId: string): readonly JsonObject[];
  /** Returns the blocks that came after the last call; none without a call. */
  rest(): readonly JsonObject[];
  heldChars(): number;
}

/** Returns the signer of a target; null if its host needs nothing back. */
export function signerOf(target: Target): Signer | null {
  return isSigningHost(target)
    ? { account: accountTag(target.account.digest), model: target.model }
    : null;
}

/**
 * Returns the collector of what a host signs, in the order of its events. Without a signer, and of
 * a response above the size limit, it returns nothing.
 */
export function newHostSeals(signer: Signer | null): HostSeals {
  const callIds = new Map<number, string>();
  let held: JsonObject[] = [];
  let chars = 0;

  function take(isTaken: (call: JsonObject[string]) => boolean): readonly JsonObject[] {
    if (signer === null || held.length === 0 || chars > MAX_SIGNED_CHARS) return [];
    const { account, model } = signer;
    const taken = held.filter(({ call }) => isTaken(call));
    held = held.filter(({ call }) => !isTaken(call));
    return taken.map((block) => ({
      ...namedBlock(block, model, (position) => callIds.get(position)),
      account,
    }));
  }

  return {
    push(block) {
      if (signer === null) return;
      chars += JSON.stringify(block).length;
      if (chars <= MAX_SIGNED_CHARS) held.push(block);
      else held = [];
    },
    beforeCall(position, callId) {
      callIds.set(position, callId);
      return take((call) => call === undefined || call === position);
    },
    rest: () => callIds.size === 0 ? [] : take(() => true),
    heldChars: () => Math.min(chars, MAX_SIGNED_CHARS),
  };
}

/**
 * Returns sealed blocks with the account that has signed them, if it is one of the configuration;
 * null if it is none. The client may have forged them: then the host refuses them.
 */
export function ownSeals(
  blocks: readonly JsonObject[],
  { providers }: Pick<Generation, "providers">,
): OwnedReasoning | null {
  const tag = blocks.at(-1)?.account;
  const accounts = [...providers.values()].flatMap((provider) => provider.accounts);
  const owner = accounts.find(({ digest }) => accountTag(digest) === tag);
  if (owner === undefined) return null;
  const own = blocks.filter(({ account }) => account === tag);
  return { account: owner.digest, blocks: own.map((value) => ({ value, callsBefore: 0 })) };
}

/** Returns a digest of the digest of an account, which names its key to no client. */
function accountTag(digest: string): string {
  return createHash("sha256").update(`seal ${digest}`).digest("base64url").slice(0, 16);
}
