import { type ApiError, newApiError } from "./protocol.ts";

/** Statuses with which keys are refused, by key. A change applies from the next request on. */
export type RefusedKeys = ReadonlyMap<string, number>;

/** A key that is always refused: `refused-`, a status from 400 to 599, and any end behind a hyphen. */
const ALWAYS_REFUSED = /^refused-([45]\d\d)(?:-|$)/;

/** Returns the error for a request whose key is refused; null if the key is accepted. */
export function refusedKeyError(headers: Headers, refusedKeys: RefusedKeys): ApiError | null {
  const key = headers.get("x-api-key") ??
    headers.get("authorization")?.replace(/^Bearer +/i, "") ?? "";
  const named = ALWAYS_REFUSED.exec(key)?.[1];
  const status = refusedKeys.get(key) ?? (named === undefined ? undefined : Number(named));
  return status === undefined
    ? null
    : newApiError(`Simulated refusal of the key with status ${status}.`, { status });
}
