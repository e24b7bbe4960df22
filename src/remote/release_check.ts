import { Cancellation } from "../core/cancellation.ts";
import { isObject, parseJson } from "../core/json/json.ts";
import { VERSION } from "../core/version.ts";
import type { World } from "../core/world.ts";
import type { Log } from "../observe/log.ts";
import { postOnce } from "./post.ts";
import { isNewer } from "./versions.ts";

/** Where to ask and how often; both times in milliseconds. */
export interface ReleaseCheckSettings {
  readonly endpoint: string;
  readonly interval: number;
  readonly timeout: number;
}

/** What the check needs. */
export interface ReleaseCheckDeps {
  readonly world: World;
  readonly log: Pick<Log, "debug" | "info">;
}

/** A check that goes on until it is closed. */
export interface ReleaseCheck {
  /** Resolves when nothing is asked any more. */
  close(): Promise<void>;
}

/** The first question is asked so many milliseconds after the start: most runs of a test are over then. */
const FIRST = 30_000;

/**
 * Asks for the newest version after 30 s and then after every interval. It sends its own version and
 * the CPU type and nothing else. A newer version is one line in the log, once; trouble is a debug line.
 */
export function newReleaseCheck(
  { endpoint, interval, timeout }: ReleaseCheckSettings,
  { world, log }: ReleaseCheckDeps,
): ReleaseCheck {
  const cut = new Cancellation();
  const question = new TextEncoder().encode(
    JSON.stringify({ version: VERSION, arch: Deno.build.arch }),
  );
  const request = {
    url: endpoint,
    headers: { "content-type": "application/json" },
    body: question,
  };
  let told = VERSION;
  let asking = Promise.resolve();
  let cancel = world.after(FIRST, next);

  function next() {
    asking = ask();
  }

  async function ask() {
    const answer = await postOnce(request, { world, timeoutMs: timeout, cut });
    if (cut.isCancelled) return;
    if (answer.as === "taken") tell(versionIn(answer.text));
    else log.debug("the release check had no answer", { reason: answer.reason });
    cancel = world.after(interval, next);
  }

  function tell(version: string | null) {
    if (version === null) return log.debug("the release check had no usable answer");
    if (!isNewer(version, told)) return;
    told = version;
    log.info("a newer version is available", { version, running: VERSION });
  }

  return {
    async close() {
      cancel();
      cut.cancel(null);
      await asking;
    },
  };
}

function versionIn(text: string | null): string | null {
  const answer = text === null ? undefined : parseJson(text);
  return isObject(answer) && typeof answer.version === "string" ? answer.version : null;
}
