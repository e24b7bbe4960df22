import { VERSION } from "../../core/build.ts";
import { concatBytes } from "../../core/concat_bytes.ts";
import { retryAfterMs } from "../../core/header_fields.ts";
import { readRegularFile } from "../../config/files.ts";
import type { Log } from "../log.ts";
import { spansUrl } from "./address.ts";
import { batchSettings, isPositiveInteger } from "./batches.ts";

/** Time for a batch with its repeats, if the variables say none. */
const DEFAULT_TIMEOUT_MS = 10_000;

/** Largest response that is read; that of a collector has a few bytes. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/** Delay before the first repeat; each further one is 1.5 times the one before. */
const FIRST_DELAY_MS = 1_000;

/** Maximum number of repeats: a collector may say that it waits for none of them. */
const MAX_REPEATS = 5;

/** Statuses after which a batch is sent again (OTLP, section "Retryable Response Codes"). */
const REPEATED = new Set([429, 502, 503, 504]);

/** Where spans are sent to. */
export interface Collector {
  /**
   * Sends a body, again while the collector is unavailable and time is left. Returns the body of
   * the response; null if it was not accepted. Never rejects.
   */
  send(body: Uint8Array<ArrayBuffer>): Promise<Uint8Array | null>;
  /** Gives up what is being sent: its timers would hold up the end of the process. */
  close(): void;
}

/** How the variables say that spans are sent. */
export interface CollectorSettings {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Time for a body with its repeats. */
  readonly timeoutMs: number;
  readonly isCompressed: boolean;
}

/**
 * Returns the settings of the variables `OTEL_EXPORTER_OTLP_*`; those for spans alone win.
 * `readHeaders` parses the list of a variable.
 */
export function collectorSettings(
  variable: (name: string) => string,
  readHeaders: (list: string) => Readonly<Record<string, string>>,
): CollectorSettings {
  const all = (name: string) => variable(`OTEL_EXPORTER_OTLP_${name}`);
  const own = (name: string) => all(`TRACES_${name}`);
  const either = (name: string) => own(name) || all(name);
  const timeout = either("TIMEOUT");
  return {
    url: spansUrl(variable),
    headers: lowercase({ ...readHeaders(all("HEADERS")), ...readHeaders(own("HEADERS")) }),
    timeoutMs: Math.min(
      isPositiveInteger(timeout) ? Number(timeout) : DEFAULT_TIMEOUT_MS,
      batchSettings(variable).exportTimeoutMillis,
    ),
    isCompressed: either("COMPRESSION") === "gzip",
  };
}

/** Returns fields with names in lower case: two forms of one name would be sent as one list. */
function lowercase(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

/** Certificates for the connections to a collector, as PEM. */
export interface Certificates {
  readonly caCerts?: string[];
  readonly cert?: string;
  readonly key?: string;
}

/** Returns a client with these certificates; null if they are not valid. */
export function newClient(certificates: Certificates): Deno.HttpClient | null {
  try {
    return Deno.createHttpClient(certificates);
  } catch {
    return null;
  }
}

/**
 * Returns the certificates of the variables, which are read now. A file that cannot be read is
 * logged and as if it were not named; a certificate of the gateway needs its key.
 */
export async function certificates(
  variable: (name: string) => string,
  log: Pick<Log, "warn">,
): Promise<Certificates> {
  const [ca, cert, key] = await Promise.all(
    ["CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"].map(readFile),
  );
  return {
    ...ca !== undefined && { caCerts: [ca] },
    ...cert !== undefined && key !== undefined && { cert, key },
  };

  async function readFile(name: string): Promise<string | undefined> {
    const path = variable(`OTEL_EXPORTER_OTLP_TRACES_${name}`) ||
      variable(`OTEL_EXPORTER_OTLP_${name}`);
    if (path === "") return undefined;
    const file = await readRegularFile(path);
    if (file.ok) return file.text;
    log.warn(`spans are sent without the file of OTEL_EXPORTER_OTLP_${name}: it ${file.trouble}`);
    return undefined;
  }
}

/**
 * Returns a collector for bodies of this type. The runtime's `node:http`, which the exporters of
 * the packages use, throws where nothing catches it if a collector closes a connection within a
 * response, which ends the process.
 */
export function newCollector(
  type: string,
  settings: CollectorSettings,
  client: Deno.HttpClient,
): Collector {
  const { url, timeoutMs, isCompressed } = settings;
  const headers = {
    "user-agent": `switchyard/${VERSION}`,
    ...settings.headers,
    "content-type": type,
    ...isCompressed && { "content-encoding": "gzip" },
  };
  const timers = new Set<() => void>();
  let isClosed = false;

  /** Acts after this time, or when the collector is closed. Returns a function to cancel it. */
  function later(delayMs: number, act: () => void): () => void {
    const timer = setTimeout(end, delayMs);
    timers.add(end);
    return cancel;

    function end(): void {
      cancel();
      act();
    }

    function cancel(): void {
      clearTimeout(timer);
      timers.delete(end);
    }
  }

  async function send(body: Uint8Array<ArrayBuffer>): Promise<Uint8Array | null> {
    const ends = performance.now() + timeoutMs;
    const sent = isCompressed ? await compressed(body) : body;
    for (let repeat = 0;; repeat++) {
      const answer = await post(sent, ends - performance.now());
      if (answer?.isAccepted) return answer.body;
      if (isClosed || answer?.isRepeated === false || repeat === MAX_REPEATS) return null;
      const waitMs = answer?.retryAfterMs ?? delayOf(repeat, answer === null);
      if (performance.now() + waitMs >= ends) return null;
      await new Promise<void>((resolve) => void later(waitMs, resolve));
      if (isClosed) return null;
    }
  }

  /** Sends a body once. Returns null if the collector could not be reached or did not respond. */
  async function post(body: Uint8Array<ArrayBuffer>, limitMs: number) {
    const controller = new AbortController();
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    // The runtime's fetch references the signal weakly: an abort alone may not end the body.
    const cancel = later(limitMs, () => {
      controller.abort();
      void reader?.cancel().catch(() => {});
    });
    try {
      const { signal } = controller;
      const init = { method: "POST", headers, body, client, signal, redirect: "manual" } as const;
      const response = await fetch(url, init);
      reader = response.body?.getReader();
      const received = reader === undefined ? new Uint8Array() : await readSmall(reader);
      return {
        isAccepted: response.ok && received !== null && !signal.aborted,
        isRepeated: REPEATED.has(response.status),
        retryAfterMs: retryAfterMs(response.headers, Date.now()),
        body: received,
      };
    } catch {
      return null;
    } finally {
      cancel();
      await reader?.cancel().catch(() => {});
    }
  }

  function close(): void {
    isClosed = true;
    for (const end of timers) end();
    client.close();
  }

  return { send, close };
}

/**
 * Returns the delay before a repeat. The first one follows a failed connection at once: the
 * collector may have closed a kept connection.
 */
function delayOf(repeat: number, isUnanswered: boolean): number {
  if (repeat === 0 && isUnanswered) return 0;
  return FIRST_DELAY_MS * 1.5 ** repeat * (0.8 + 0.4 * Math.random());
}

/** Returns a small body; null if it is larger or breaks off. */
async function readSmall(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      size += next.value.length;
      if (size > MAX_RESPONSE_BYTES) return null;
      pieces.push(next.value);
    }
    return concatBytes(pieces);
  } catch {
    return null;
  }
}

async function compressed(body: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([body]).stream().pipeThrough(new CompressionStream("gzip"));
  return await new Response(stream).bytes();
}
