import { Cancellation } from "../core/cancellation.ts";
import { isObject, parseJson } from "../core/json/json.ts";
import { VERSION } from "../core/build.ts";
import type { World } from "../core/world.ts";
import type { Log } from "../observe/log.ts";
import { postOnce } from "./post.ts";

/** Address, interval and timeout of the release check; times in milliseconds. */
export interface ReleaseCheckSettings {
  readonly endpoint: string;
  readonly interval: number;
  readonly timeout: number;
}

/** Delay of the first check: short test runs end before it. */
const FIRST_CHECK_DELAY_MS = 30_000;

/**
 * Starts a check for the newest version after 30 s and then after each interval. The request
 * contains only the running version and the CPU architecture. A newer version is logged once at
 * level info; failures are logged at level debug.
 */
export function newReleaseCheck(
  { endpoint, interval, timeout }: ReleaseCheckSettings,
  { world, log }: { readonly world: World; readonly log: Pick<Log, "debug" | "info"> },
) {
  const cut = new Cancellation();
  const requestBody = new TextEncoder().encode(
    JSON.stringify({ version: VERSION, arch: Deno.build.arch }),
  );
  const request = {
    url: endpoint,
    headers: { "content-type": "application/json" },
    body: requestBody,
  };
  let lastVersion = VERSION;
  let checking = Promise.resolve();
  let cancel = world.after(FIRST_CHECK_DELAY_MS, next);

  function next() {
    checking = checkOnce();
  }

  async function checkOnce() {
    const result = await postOnce(request, { world, timeoutMs: timeout, cut });
    if (cut.isCancelled) return;
    if (result.kind === "accepted") logVersion(parseVersionBody(result.text));
    else log.debug("the release check failed", { reason: result.reason });
    cancel = world.after(interval, next);
  }

  function logVersion(version: string | null) {
    if (version === null) return log.debug("the release check had no usable response");
    if (!isNewer(version, lastVersion)) return;
    lastVersion = version;
    log.info("a newer version is available", { version, running: VERSION });
  }

  return {
    /** Ends the check; resolves when no request is in flight. */
    async close(): Promise<void> {
      cancel();
      cut.cancel(null);
      await checking;
    },
  };
}

function parseVersionBody(text: string | null): string | null {
  const answer = text === null ? undefined : parseJson(text);
  return isObject(answer) && typeof answer.version === "string" ? answer.version : null;
}

const SEMANTIC_VERSION =
  /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;

const NUMBER = /^\d+$/;

/** Maximum length of a version. */
const MAX_VERSION_CHARS = 128;

/** True if a text is a version newer than the running one (Semantic Versioning 2.0, section 11). */
export function isNewer(offered: string, running: string): boolean {
  const [one, other] = [parseVersion(offered), parseVersion(running)];
  if (one === null || other === null) return false;
  for (const [at, number] of one.numbers.entries()) {
    const difference = number - (other.numbers[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  // A release is newer than its pre-releases.
  if (one.before.length === 0 || other.before.length === 0) {
    return one.before.length === 0 && other.before.length > 0;
  }
  return isLater(one.before, other.before);
}

function parseVersion(text: string) {
  const parts = text.length > MAX_VERSION_CHARS ? null : SEMANTIC_VERSION.exec(text);
  if (parts === null) return null;
  const [, major, minor, patch, before] = parts;
  return { numbers: [major, minor, patch].map(Number), before: before?.split(".") ?? [] };
}

function isLater(one: readonly string[], other: readonly string[]): boolean {
  for (const [at, word] of one.entries()) {
    const against = other[at];
    if (against === undefined) return true;
    if (word === against) continue;
    const [isNumber, isNumberAgainst] = [NUMBER.test(word), NUMBER.test(against)];
    if (isNumber && isNumberAgainst) return Number(word) > Number(against);
    // Numeric identifiers are older than alphanumeric ones.
    return isNumber === isNumberAgainst ? word > against : isNumberAgainst;
  }
  return false;
}
