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

/** A block that waits for its call, with its number in the order of arrival. */
interface Held {
  readonly block: JsonObject;
  readonly number: number;
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
  /** Blocks by the position of their call, with their numbers: a search for each call is long. */
  let held = new Map<JsonObject[string], Held[]>();
  let count = 0;
  let chars = 0;

  function take(calls: Iterable<JsonObject[string]>): readonly JsonObject[] {
    if (signer === null || held.size === 0 || chars > MAX_SIGNED_CHARS) return [];
    const { account, model } = signer;
    const taken = [...calls].flatMap((call) => {
      const blocks = held.get(call) ?? [];
      held.delete(call);
      return blocks;
    });
    return taken.toSorted((one, other) => one.number - other.number).map(({ block }) => ({
      ...namedBlock(block, model, (position) => callIds.get(position)),
      account,
    }));
  }

  return {
    push(block) {
      if (signer === null) return;
      chars += JSON.stringify(block).length;
      if (chars > MAX_SIGNED_CHARS) return void (held = new Map());
      const others = held.get(block.call) ?? [];
      others.push({ block, number: count++ });
      held.set(block.call, others);
    },
    beforeCall(position, callId) {
      callIds.set(position, callId);
      return take([undefined, position]);
    },
    rest: () => callIds.size === 0 ? [] : take([...held.keys()]),
    heldChars: () => Math.min(chars, MAX_SIGNED_CHARS),
  };
}

/**
 * Returns the function that returns sealed blocks with the account that has signed them, if it is
 * one of the configuration; null if it is none. The client may have forged them: then the host
 * refuses them. The accounts are digested once, for all messages of a request.
 */
export function newSealReader(
  { providers }: Pick<Generation, "providers">,
): (blocks: readonly JsonObject[]) => OwnedReasoning | null {
  let owners: ReadonlyMap<JsonObject[string], string> | null = null;
  return (blocks) => {
    owners ??= new Map(
      [...providers.values()].flatMap(({ accounts }) =>
        accounts.map(({ digest }) => [accountTag(digest), digest] as const)
      ),
    );
    const tag = blocks.at(-1)?.account;
    const owner = owners.get(tag);
    if (owner === undefined) return null;
    const own = blocks.filter(({ account }) => account === tag);
    return { account: owner, blocks: own.map((value) => ({ value, callsBefore: 0 })) };
  };
}

/** Returns a digest of the digest of an account, which names its key to no client. */
function accountTag(digest: string): string {
  return createHash("sha256").update(`seal ${digest}`).digest("base64url").slice(0, 16);
}
