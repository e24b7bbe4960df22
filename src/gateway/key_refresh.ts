import { readBounded } from "../core/bounded_body.ts";
import { Cancellation } from "../core/cancellation.ts";
import type { World } from "../core/world.ts";
import type { Config } from "../config/schema.ts";
import {
  MAX_KEY_SET_BYTES,
  type ParsedKeySet,
  parseKeySet,
  type VerifyingKey,
} from "../access/tokens/key_set.ts";
import { readSmallFile } from "../config/files.ts";
import type { Log } from "../observe/log.ts";
import { sourceOf } from "./compile_tokens.ts";

/** Time limit of one fetch. */
const FETCH_TIMEOUT_MS = 10_000;

/** Problems of keys that are not there. */
const LATE = `did not arrive within ${FETCH_TIMEOUT_MS / 1000} s`, UNFETCHED = "cannot be fetched";

/** Time between two refreshes of keys from an address, varied by a tenth, and from a file. */
const URL_INTERVAL_MS = 15 * 60_000, FILE_INTERVAL_MS = 10_000;

/** Time between two attempts after a failed one. */
const RETRY_INTERVAL_MS = 30_000;

/** Time for which the start of a gateway waits for the first keys. */
const FIRST_KEYS_TIMEOUT_MS = 5_000;

/** Waits for the first keys, for at most 5 s. */
export async function withinFirstKeys(
  first: Promise<void>,
  world: Pick<World, "after">,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = world.after(FIRST_KEYS_TIMEOUT_MS, resolve);
  await Promise.race([first, promise]);
  cancel();
}

/** Receives the keys of issuers. */
export interface KeyReceiver {
  begin(source: string): void;
  /** `keys` is null if the refresh has failed. */
  end(source: string, keys: readonly VerifyingKey[] | null): void;
}

/** Dependencies of the refresh of keys. */
export interface RefreshDeps {
  readonly world: Pick<World, "after" | "random" | "send">;
  readonly log: Log;
  readonly receiver: KeyReceiver;
  /** Counts a refresh of the keys of an issuer. */
  counted(issuer: string, result: "success" | "failure"): void;
}

interface Source {
  readonly text: string;
  /** Names of its issuers. */
  issuers: readonly string[];
  running: Promise<void> | null;
  warned: string | null;
  cancelTimer(): void;
}

/** Refreshes the keys of issuers ahead of requests: one task for each source of keys. */
export interface KeyRefresh {
  /** Refreshes the keys of a configuration. Resolves when each source has been tried once. */
  apply(config: Pick<Config, "security">): Promise<void>;
  /** Refreshes a source now, unless it is being refreshed. */
  demand(source: string): void;
  close(): Promise<void>;
}

/** Returns the refresh of no keys. */
export function newKeyRefresh({ world, log, receiver, counted }: RefreshDeps): KeyRefresh {
  const sources = new Map<string, Source>();
  const closing = new Cancellation();

  function refresh(source: Source): Promise<void> {
    if (source.running !== null) return source.running;
    source.cancelTimer();
    receiver.begin(source.text);
    source.running = readKeys(source.text, world, closing).then((read) => {
      source.running = null;
      if (closing.isCancelled || sources.get(source.text) !== source) return;
      report(source, read);
      receiver.end(source.text, read.ok ? read.keys : null);
      source.cancelTimer = world.after(untilNext(source, read), () => void refresh(source));
    });
    return source.running;
  }

  function untilNext({ text }: Source, { ok }: ParsedKeySet): number {
    if (text.startsWith(FILE)) return FILE_INTERVAL_MS;
    return ok ? URL_INTERVAL_MS * (0.9 + 0.2 * world.random()) : RETRY_INTERVAL_MS;
  }

  function report(source: Source, read: ParsedKeySet): void {
    for (const issuer of source.issuers) counted(issuer, read.ok ? "success" : "failure");
    const fields = { issuer: source.issuers.join(",") };
    if (!read.ok) {
      if (source.warned !== read.problem) {
        log.warn("the keys of an issuer could not be refreshed; the last ones are used", {
          ...fields,
          reason: read.problem,
        });
      }
      source.warned = read.problem;
      return;
    }
    if (source.warned !== null && source.warned !== SECRETS) {
      log.info("the keys of an issuer are refreshed again", fields);
    }
    if (read.hasSecrets && source.warned !== SECRETS) {
      log.warn("the key set of an issuer has secret keys, which are not used", fields);
    }
    source.warned = read.hasSecrets ? SECRETS : null;
  }

  return {
    async apply({ security }) {
      const isOn = security.enabled && security.provider === "jwt";
      const wanted = Map.groupBy(isOn ? security.jwt.issuers : [], sourceOf);
      for (const [text, source] of sources) {
        if (wanted.has(text)) continue;
        source.cancelTimer();
        sources.delete(text);
      }
      const started = [...wanted].map(([text, issuers]) => {
        const source: Source = sources.get(text) ??
          { text, issuers: [], running: null, warned: null, cancelTimer: () => {} };
        source.issuers = issuers.map(({ name }) => name);
        sources.set(text, source);
        return refresh(source);
      });
      await Promise.all(started);
    },
    demand(text) {
      const source = sources.get(text);
      if (source !== undefined) void refresh(source);
    },
    async close() {
      for (const source of sources.values()) source.cancelTimer();
      closing.cancel(null);
      await Promise.all([...sources.values()].map(({ running }) => running));
      sources.clear();
    },
  };
}

/** State of a source whose secret keys were logged. */
const SECRETS = "secret keys";

const FILE = "file ", URL_PREFIX = "url ";

/** Reads the keys of a source. Never rejects. */
export async function readKeys(
  source: string,
  world: Pick<World, "after" | "send">,
  closing = new Cancellation(),
): Promise<ParsedKeySet> {
  if (source.startsWith(FILE)) return await readKeyFile(source.slice(FILE.length));
  const text = await fetchKeys(source.slice(URL_PREFIX.length), world, closing);
  return text.ok ? await parseKeySet(text.text) : text;
}

type KeyText =
  | { readonly ok: true; readonly text: string }
  | Extract<ParsedKeySet, { readonly ok: false }>;

/** Reads the keys of a file. Never rejects. */
export async function readKeyFile(path: string): Promise<ParsedKeySet> {
  const read = await readSmallFile(path, MAX_KEY_SET_BYTES);
  return read.ok ? await parseKeySet(read.text) : { ok: false, problem: read.reason };
}

/** Fetches a key set; a redirect is a failure, because it names another source. */
async function fetchKeys(
  url: string,
  world: Pick<World, "after" | "send">,
  closing: Cancellation,
): Promise<KeyText> {
  const cancellation = new Cancellation();
  let isLate = false;
  const unsubscribe = closing.onCancel(() => cancellation.cancel(null));
  const cancelTimer = world.after(FETCH_TIMEOUT_MS, () => {
    isLate = true;
    cancellation.cancel(null);
  });
  const late = new Promise<null>((resolve) => void cancellation.onCancel(() => resolve(null)));
  try {
    const read = await Promise.race([fetchText(url, world, cancellation), late]);
    return read ?? { ok: false, problem: LATE };
  } catch {
    return { ok: false, problem: isLate ? LATE : UNFETCHED };
  } finally {
    cancelTimer();
    unsubscribe();
  }
}

async function fetchText(
  url: string,
  world: Pick<World, "send">,
  cancellation: Cancellation,
): Promise<KeyText> {
  const response = await world.send(url, {
    method: "GET",
    headers: { accept: "application/json" },
    body: null,
    isRepeatable: true,
    cancellation,
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    return { ok: false, problem: `was answered with status ${response.status}` };
  }
  const read = await readBounded(response, cancellation, MAX_KEY_SET_BYTES);
  if (read.ok) return { ok: true, text: new TextDecoder().decode(read.bytes) };
  const isTooLarge = read.reason === "too_large";
  return {
    ok: false,
    problem: isTooLarge ? `has more than ${MAX_KEY_SET_BYTES} bytes` : UNFETCHED,
  };
}
