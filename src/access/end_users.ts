import { createHash } from "node:crypto";
import { SUBJECT_PREFIX } from "../traffic/buckets.ts";
import type { ClientGroup, ClientKey, EndUsers } from "./client_key.ts";
import { isName } from "./tokens/issuer.ts";

/** An end user behind a client key. */
export interface EndUser {
  /** Identity for its limits and its objects, distinct for each key. */
  readonly caller: string;
  /** Name in logs: a part of the digest of key and user, which does not show the user. */
  readonly hash: string;
}

/** Hexadecimal digits of the name of an end user in logs. */
const HASH_CHARS = 12;

/** True if the text can name an end user: it is taken as it is, so no blank is around it. */
export function isEndUser(text: string): boolean {
  return isName(text) && text.trim() === text;
}

/** Returns the end user with this name. */
export function newEndUser({ name }: ClientKey, user: string): EndUser {
  // A list, because both names may have any character.
  const identity = JSON.stringify([name, user]);
  return {
    caller: `${SUBJECT_PREFIX}user ${identity}`,
    hash: createHash("sha256").update(identity).digest("hex").slice(0, HASH_CHARS),
  };
}

/** Returns the key with the limits of its end user, which are counted together with its own. */
export function keyOfUser(
  key: ClientKey,
  { limits }: EndUsers,
  { caller }: EndUser,
): ClientKey {
  if (limits === null) return key;
  const { requestsPerMinute } = limits;
  const user: ClientGroup = { name: "", caller, limits, user: { requestsPerMinute } };
  const own = key.limits ?? NO_LIMITS;
  return { ...key, limits: { ...own, groups: [...own.groups, user] } };
}

const NO_LIMITS = { tokensPerMinute: null, maxConcurrent: null, budgets: [], groups: [] };
