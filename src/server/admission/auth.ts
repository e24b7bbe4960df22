import { hash, timingSafeEqual } from "node:crypto";
import type { Config } from "../../config/schema.ts";
import {
  type Awaitable,
  type Failed,
  refuse,
  type Result,
  success,
  whenReady,
} from "../../core/failure/result.ts";
import type { TokenResult } from "../../access/tokens/token_clients.ts";
import { MAX_TOKEN_CHARS } from "../../access/tokens/verify.ts";
import { refuseToken } from "./refuse_token.ts";
import type { Call } from "../../call/call.ts";
import { keyForUser } from "../../access/end_users.ts";
import {
  type ClientKey,
  type ClientSecret,
  type EndUsers,
  isExpired,
} from "../../access/client_key.ts";
import { keyField, presentedKey, requiresKey } from "../../access/presented_key.ts";

type KeySettings = Config["security"]["api_key"];

/**
 * Returns the client key of the request, or the client of its token; null if authentication is off.
 * A promise only if a token must be verified. Refused as `missing_api_key` or `invalid_api_key`,
 * with a challenge (RFC 9110, section 11.6.1).
 */
export function authenticate(call: Call): Awaitable<Result<ClientKey | null>> {
  const { generation, headers, responseHeaders } = call;
  if (!requiresKey(generation)) return success(null);
  const { clientKeys, tokens, config } = generation;
  const settings = config.security.api_key;
  const presented = presentedKey(headers, settings);
  if (presented === "") {
    responseHeaders["www-authenticate"] = CHALLENGE;
    return refuse(
      "missing_api_key",
      `Send a client key in the header ${describeKeyHeader(settings)}.`,
    );
  }
  const digest = digestOf(presented);
  // No key of the file has this value, else the token would never have been verified.
  const verified = tokens?.findVerified(digest, call.world) ?? null;
  if (verified !== null) return admitToken(call, verified);
  const found = findKey(Uint8Array.fromHex(digest), clientKeys);
  if (found === null && tokens !== null) {
    const result = tokens.authenticate(presented, digest, call.world);
    return whenReady(result, (one) => admitToken(call, one));
  }
  const lapsed = found === null ? null : refuseLapsed(found, call);
  if (found !== null && lapsed === null) {
    setClient(call, found);
    const { endUsers } = found.key;
    return endUsers === null ? success(found.key) : identifyUser(call, found.key, endUsers);
  }
  responseHeaders["www-authenticate"] = CHALLENGE;
  return lapsed ??
    refuse("invalid_api_key", "This client key is not known here; send one that is.");
}

/** Buffer of a presented value. The digest of a text as it is takes twice the time for a token. */
const ENCODED = new Uint8Array(3 * MAX_TOKEN_CHARS);

const ENCODER = new TextEncoder();

/**
 * Returns the SHA-256 digest of a presented value in hexadecimal digits. Measured: in one step and
 * as a text it takes half the time of a hash object that returns bytes.
 */
function digestOf(presented: string): string {
  // UTF-8 has at most three bytes for each unit of a text.
  if (presented.length * 3 > ENCODED.length) return hash("sha256", presented, "hex");
  const { written } = ENCODER.encodeInto(presented, ENCODED);
  return hash("sha256", ENCODED.subarray(0, written), "hex");
}

/** Returns the key with the limits of the end user that the request names. */
function identifyUser(call: Call, key: ClientKey, endUsers: EndUsers): Result<ClientKey> {
  const found = keyForUser(key, endUsers, call.headers);
  if (!found.ok) return found;
  const { user, key: own } = found.value;
  if (user !== null) {
    call.report.endUser = user.hash;
    call.caller.name = user.caller;
    call.client.key = own;
  }
  return success(own);
}

const CHALLENGE = 'Bearer realm="gateway"';

/** Returns the client of a token, or its refusal. */
function admitToken(call: Call, result: TokenResult): Result<ClientKey> {
  call.metrics.tokenChecked(result);
  if (result.kind !== "client") {
    call.report.tokenRefusal = result;
    return refuseToken(call, result);
  }
  const { client } = result;
  setCaller(call, client);
  return success(client);
}

/** A client key with the secret by which it was presented. */
interface FoundKey {
  readonly key: ClientKey;
  readonly secret: ClientSecret;
}

/**
 * Returns the refusal of a key that is disabled or has expired, or whose secret has; null if it is
 * valid now.
 */
function refuseLapsed({ key, secret: { until } }: FoundKey, { world }: Call): Failed | null {
  if (key.isDisabled) {
    return refuse("invalid_api_key", "This client key is disabled; send one that is not.");
  }
  if (isExpired(key, world.wall())) {
    return refuse("invalid_api_key", "This client key has expired; send one that is valid.");
  }
  return until !== null && world.wall() >= until.ms
    ? refuse("invalid_api_key", "This client key was replaced; send the new one.")
    : null;
}

function setClient(call: Call, { key, secret: { until } }: FoundKey): void {
  if (until !== null) {
    call.report.keySecret = "previous";
    call.responseHeaders["x-gateway-key-expires"] = until.date;
  }
  setCaller(call, key);
}

/** Makes a client key the one of a call. */
export function setCaller(
  { generation: { config }, report, caller, client }: Call,
  key: ClientKey,
): void {
  report.client = key.name;
  report.keyLabels = key.reported;
  report.measured = key.measured;
  report.template = key.template;
  report.issuer = key.issuer;
  caller.name = key.caller;
  caller.isIsolated = config.security.isolate_clients;
  client.key = key;
}

/**
 * Returns the client key with the digest of the presented value. Every secret is compared,
 * each in constant time, so that timing reveals no key.
 */
function findKey(digest: Uint8Array, keys: readonly ClientKey[]): FoundKey | null {
  let found: FoundKey | null = null;
  for (const key of keys) {
    for (const secret of key.secrets) {
      if (timingSafeEqual(secret.digest, digest)) found ??= { key, secret };
    }
  }
  return found;
}

function describeKeyHeader(settings: KeySettings): string {
  const form = keyField(settings, "KEY");
  return settings.allow_x_api_key ? `${form} or X-API-Key: KEY` : form;
}
