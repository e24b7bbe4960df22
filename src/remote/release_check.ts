import { Cancellation } from "../core/cancellation.ts";
import { isObject, parseJson } from "../core/json/json.ts";
import { VERSION } from "../core/build.ts";
import type { World } from "../core/world.ts";
import type { Log } from "../observe/log.ts";
import { postOnce } from "./post.ts";
import { isNewer } from "./versions.ts";

/** Address, interval and timeout of the release check; times in milliseconds. */
export interface ReleaseCheckSettings {
  readonly endpoint: string;
  readonly interval: number;
  readonly timeout: number;
}

/** Dependencies of the release check. */
export interface ReleaseCheckDeps {
  readonly world: World;
  readonly log: Pick<Log, "debug" | "info">;
}

/** A periodic release check. */
export interface ReleaseCheck {
  /** Ends the check; resolves when no request is in flight. */
  close(): Promise<void>;
}

/** Delay of the first check: short test runs end before it. */
const FIRST_CHECK_DELAY_MS = 30_000;

/**
 * Starts a check for the newest version after 30 s and then after each interval. The request contains
 * only the running version and the CPU architecture. A newer version is logged once at level info;
 * failures are logged at level debug.
 */
export function newReleaseCheck(
  { endpoint, interval, timeout }: ReleaseCheckSettings,
  { world, log }: ReleaseCheckDeps,
): ReleaseCheck {
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
    async close() {
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
