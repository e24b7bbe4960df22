import { setLatest } from "../../core/set_latest.ts";
import type { World } from "../../core/world.ts";
import type { Awaitable } from "../../core/failure/result.ts";
import { SUBJECT_PREFIX } from "../../traffic/buckets.ts";
import { type ClientKey, reportedLabels } from "../client_key.ts";
import { type Issuer, labelsOf, type Template } from "./issuer.ts";
import type { KeySets } from "./key_sets.ts";
import {
  findKey,
  hasEnded,
  isLasting,
  refuseForm,
  type TokenRefusal,
  type ValidToken,
  verifyToken,
} from "./verify.ts";

/** Maximum number of verified tokens that are remembered, and of refused ones. */
export const MAX_VERIFIED = 10_000, MAX_REFUSED = 1_000;

/** Time for which a refusal is remembered. */
const REFUSAL_TTL_MS = 60_000;

/** Maximum number of verifications that run, and of those that wait. */
const MAX_VERIFICATIONS = 32, MAX_WAITING_VERIFICATIONS = 1_000;

type Clock = Pick<World, "wall" | "now">;

/** Client of a token, or the reason why it is refused. */
export type TokenResult =
  | { readonly kind: "client"; readonly client: ClientKey; readonly isCached: boolean }
  | TokenRefusal;

/** Authenticates tokens of the issuers of one configuration. */
export interface TokenClients {
  readonly issuers: readonly Issuer[];
  readonly keySets: KeySets;
  /**
   * Returns the client of a token that was verified before, or the reason why it is refused now;
   * null for every other token.
   */
  findVerified(digest: string, clock: Clock): TokenResult | null;
  /**
   * Returns the client of a token. `digest` is that of the token, by which results are remembered;
   * the token itself is not. A promise only if the token must be verified.
   */
  authenticate(token: string, digest: string, clock: Clock): Awaitable<TokenResult>;
  /** Number of remembered tokens. */
  readonly size: { readonly verified: number; readonly refused: number };
}

/** Settings for clients with tokens besides the issuers. */
export interface TokenSettings {
  /** Labels that logs and metrics show. */
  readonly reported: readonly string[];
  /** Values of labels in the configuration, which metrics may show. */
  readonly knownValues: ReadonlyMap<string, ReadonlySet<string>>;
}

interface Verified {
  readonly result: TokenResult;
  readonly expires: number;
  readonly source: string;
  readonly keyId: string;
  readonly issuer: string;
}

/** Returns the clients of tokens; no token is verified yet. */
export function newTokenClients(
  issuers: readonly Issuer[],
  keySets: KeySets,
  settings: TokenSettings,
): TokenClients {
  const verified = new Map<string, Verified>();
  const refused = new Map<
    string,
    { readonly refusal: TokenRefusal; readonly untilMs: number; readonly set: unknown }
  >();
  const running = new Map<string, Promise<TokenResult>>();
  const turns = newVerificationTurns();

  function findVerified(digest: string, clock: Clock): TokenResult | null {
    const known = verified.get(digest);
    if (known === undefined) return null;
    const { result, expires, source, keyId, issuer } = known;
    const set = keySets.current(source, clock.now());
    if (set === null) return { kind: "unavailable", issuer };
    if (!set.ids.has(keyId)) {
      verified.delete(digest);
      return null;
    }
    return hasEnded(expires, clock.wall()) ? { kind: "expired", issuer, at: expires } : result;
  }

  function findRefused(digest: string, clock: Clock): TokenRefusal | null {
    const known = refused.get(digest);
    if (known === undefined) return null;
    const { refusal, untilMs, set } = known;
    // A clock that was set forward and back again ends no token.
    const isEnded = refusal.kind !== "expired" || hasEnded(refusal.at, clock.wall());
    if (isEnded && clock.now() < untilMs && set === setOf(refusal, clock)) return refusal;
    refused.delete(digest);
    return null;
  }

  function setOf({ issuer }: TokenRefusal, clock: Clock): unknown {
    const known = issuers.find(({ name }) => name === issuer);
    return known === undefined ? null : keySets.current(known.source, clock.now());
  }

  async function verify(
    token: string,
    digest: string,
    found: Parameters<typeof verifyToken>[1],
    clock: Clock,
  ): Promise<TokenResult> {
    const turn = turns.take();
    if (turn === null) return { kind: "busy", issuer: found.issuer.name };
    // Of the key that is tried: others may have come until the end.
    const set = keySets.current(found.issuer.source, clock.now());
    try {
      await turn;
      const result = await verifyToken(token, found, clock.wall());
      if (result.kind === "valid") return remember(digest, result);
      if (isLasting(result)) {
        const untilMs = clock.now() + REFUSAL_TTL_MS;
        setLatest(refused, digest, { refusal: result, untilMs, set }, MAX_REFUSED);
      }
      return result;
    } finally {
      turns.give();
    }
  }

  function remember(digest: string, valid: ValidToken): TokenResult {
    const client = newClient(valid, settings);
    const { expires, issuer, key } = valid;
    const result = { kind: "client", client, isCached: true } as const;
    const entry = { result, expires, source: issuer.source, keyId: key.id, issuer: issuer.name };
    setLatest(verified, digest, entry, MAX_VERIFIED);
    return { kind: "client", client, isCached: false };
  }

  return {
    issuers,
    keySets,
    findVerified,
    authenticate(token, digest, clock) {
      const known = findVerified(digest, clock) ?? findRefused(digest, clock) ??
        running.get(digest);
      if (known !== undefined) return known;
      const refusal = refuseForm(token);
      if (refusal !== null) return refusal;
      const found = findKey(token, issuers, keySets, clock.now());
      if (found.kind !== "unverified") return found;
      const result = verify(token, digest, found, clock).finally(() => running.delete(digest));
      running.set(digest, result);
      return result;
    },
    get size() {
      return { verified: verified.size, refused: refused.size };
    },
  };
}

/** Returns the client of a valid token. */
function newClient(
  { issuer, subject, template, claims }: ValidToken,
  { reported, knownValues }: TokenSettings,
): ClientKey {
  const labels = labelsOf(issuer, template, claims);
  const shown = new Map(
    [...labels].map(([label, value]) =>
      [label, knownValues.get(label)?.has(value) === true ? value : OTHER_VALUE] as const
    ),
  );
  return {
    ...clientByTemplate(`${issuer.name}/${subject}`, issuer, template, labels),
    reported: reportedLabels(labels, reported),
    measured: { client: `template:${template.template}`, labels: reportedLabels(shown, reported) },
  };
}

/** Returns the client of a token by its name, with nothing for logs and metrics. */
export function clientByTemplate(
  name: string,
  { name: issuer }: Pick<Issuer, "name">,
  template: Template,
  labels: ReadonlyMap<string, string>,
): ClientKey {
  return {
    ...template,
    name,
    caller: `${SUBJECT_PREFIX}token ${name}`,
    endUsers: null,
    secrets: [],
    isDisabled: false,
    expiresMs: null,
    labels,
    reported: null,
    measured: null,
    issuer,
  };
}

/** Label value in metrics for all values that the configuration does not have. */
const OTHER_VALUE = "_other";

/** Runs few verifications at once, in the order of arrival. */
function newVerificationTurns() {
  const waiting: (() => void)[] = [];
  let runningCount = 0;
  return {
    /** Returns a promise of a turn; null if too many wait. */
    take(): Promise<void> | null {
      if (runningCount < MAX_VERIFICATIONS) {
        runningCount += 1;
        return Promise.resolve();
      }
      if (waiting.length >= MAX_WAITING_VERIFICATIONS) return null;
      return new Promise((resolve) => void waiting.push(resolve));
    },
    give(): void {
      const next = waiting.shift();
      if (next === undefined) runningCount -= 1;
      else next();
    },
  };
}
