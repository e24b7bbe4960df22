import { Buffer } from "node:buffer";

/** One attack: the load of a client or of an upstream, while another client is served. */
export interface Attack {
  /** Row of the table, such as `A3 gzip`. */
  readonly row: string;
  /** Describes the load at this multiple of its usual size. */
  size(times: number): string;
  /**
   * Returns the sections of the configuration, to which those of the prober are added. `upstream`
   * is the address of the attack's upstream.
   */
  config(upstream: string, folder: string): Readonly<Record<string, unknown>>;
  /**
   * True if the gateway stores its objects in a Valkey server, whose address is added to `state`.
   */
  readonly isOverValkey?: boolean;
  /** Its upstream, in a separate process. Without one it is the simulator. */
  readonly upstream?: (request: Request) => Response | Promise<Response>;
  /**
   * Sends the load to the gateway, from a separate process, and resolves when it is over. Returns
   * the outcome; fails if this is not what the documentation promises.
   */
  load(target: Target, times: number): Promise<string>;
  /** Returns the bound of the growth of memory in MiB, if it is not `MAX_GROWTH_MIB`. */
  maxGrowthMib?(times: number): number;
  /**
   * Bound of the time of the processor in one gap of the event loop, in milliseconds; absent for
   * none. The gap itself is longer while other programs use the processors.
   */
  readonly maxGapProcessorMs?: number;
}

/** The gateway as a load reaches it. */
export interface Target {
  readonly url: string;
  /** Process and configuration file of the gateway. */
  readonly pid: number;
  readonly configPath: string;
}

/**
 * Bound of the growth of the gateway's memory in MiB: twice what its `max_body_memory` and
 * `max_response_memory` are, because the garbage of a heap is about as large as what is in use.
 */
export const MAX_GROWTH_MIB = 2 * (256 + 256);

/**
 * Bound of the growth for each byte of `max_body_memory`, for `docs/operate/limits.md`: a request
 * is in memory as text, as values, as the request to its provider and as what is stored of it.
 */
export const BODY_MEMORY_RATIO = 8;

/**
 * Bound of one gap in the work on patterns and schemas: 50 ms for one piece of it, and as much for
 * collections of garbage and for short work of other calls in the same gap. Measured: 0 to 70 ms,
 * in steps of 10 ms.
 */
export const MAX_GAP_PROCESSOR_MS = 50 + 50;

/** Bounds of the longest `/health` and of the longest small call of another client. */
export const MAX_HEALTH_MS = 250, MAX_CALL_MS = 500;

/** Client key of the prober, for attacks with client keys. */
export const PROBE_KEY = "gk-attacks-probe-0123456789abcdef";

/** Returns headers with a client key. */
export function keyHeaders(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/** Returns the section `security` with these keys, named by their members, and the prober's. */
export function security(keys: Readonly<Record<string, object>>) {
  const all = Object.entries(keys).map(([name, key]) => ({ name, ...key }));
  const probe = { name: "probe", value: PROBE_KEY, requests_per_minute: 60_000 };
  return { enabled: true, api_key: { keys: [...all, probe] } };
}

/** Returns the sections for one provider that serves every model. */
export function oneProvider(upstream: string, settings: object = {}) {
  return {
    providers: { up: { type: "compat", base_url: upstream, api_key: "any", ...settings } },
    routing: { routes: [{ name: "up", targets: [{ provider: "up" }] }] },
  };
}

/** Response to a request of an attack. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

/** Sends a request with this body, or as GET without one, and reads the whole response. */
export async function send(
  url: string,
  body: BodyInit | null = null,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const began = performance.now();
  const response = await fetch(url, { method: body === null ? "GET" : "POST", body, headers });
  const text = await response.text();
  return { status: response.status, text, ms: performance.now() - began };
}

/** Sends a request, and fails unless the status of the response is 200. */
export async function sendOk(...request: Parameters<typeof send>): Promise<Answer> {
  const answer = await send(...request);
  if (answer.status === 200) return answer;
  throw new Error(`${request[0]}: ${answer.status} ${answer.text.slice(0, 300)}`);
}

/** Returns the number of each value, such as `200: 3, 503: 1`. */
export function countsOf(values: Iterable<string | number>): string {
  const counts = new Map<string | number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted().map(([value, count]) => `${value}: ${count}`).join(", ");
}

/** Returns the number of answers of each status and error code, and the longest time. */
export function outcomeOf(answers: readonly Answer[]): string {
  const codes = answers.map(({ status, text }) => {
    const code = status === 200 ? "" : /"code":\s*"(\w+)"/.exec(text)?.[1] ?? "";
    return `${status} ${code}`.trim();
  });
  return `${countsOf(codes)}; at most ${Math.max(...answers.map(({ ms }) => ms)).toFixed(0)} ms`;
}

/** Runs the function `count` times, at once. */
export function many<T>(count: number, run: (at: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => run(at)));
}

/** Resolves after a time. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A connection to the gateway on which an attack writes what no HTTP client would. */
export interface RawConnection extends Disposable {
  /** Writes all of the bytes; false if the gateway has closed the connection. */
  write(bytes: Uint8Array<ArrayBuffer> | string): Promise<boolean>;
  /** Reads until the text has arrived, and returns all that has; it ends early if closed. */
  readUntil(text: string): Promise<string>;
}

/** Opens a connection to the gateway. */
export async function connectRaw({ url }: Target): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const writer = connection.writable.getWriter();
  const reader = connection.readable.getReader();
  let received = "";
  return {
    write: (bytes) =>
      writer.write(typeof bytes === "string" ? Buffer.from(bytes) : bytes)
        .then(() => true, () => false),
    async readUntil(text) {
      while (!received.includes(text)) {
        const read = await reader.read().catch(() => null);
        if (read === null || read.done) break;
        received += Buffer.from(read.value).toString("latin1");
      }
      return received;
    },
    [Symbol.dispose]() {
      try {
        connection.close();
      } catch {
        // The gateway has closed it.
      }
    },
  };
}

/** Returns the head of a request. */
export function requestHead(start: string, headers: Record<string, string> = {}): string {
  const lines = Object.entries({ host: "localhost", ...headers }).map((pair) => pair.join(": "));
  return `${start} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
}

/** Opens a WebSocket of the Responses API on a connection; fails if the gateway refuses it. */
export async function openSocket(target: Target, headers: Record<string, string> = {}) {
  const connection = await connectRaw(target);
  const upgrade = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  };
  await connection.write(requestHead("GET /v1/responses", upgrade));
  const head = await connection.readUntil("\r\n\r\n");
  if (!head.startsWith("HTTP/1.1 101")) throw new Error(`No WebSocket: ${head}`);
  return connection;
}

/** Opcodes of WebSocket frames (RFC 6455, section 11.8). */
export const CONTINUES_CODE = 0, TEXT_CODE = 1, PING_CODE = 9, PONG_CODE = 10;

/** Returns a frame with a mask of zeros; `declared` is its length if it is cut off. */
export function frame(
  opcode: number,
  payload: Uint8Array | string,
  { isLast = true, declared = payload.length } = {},
): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(14);
  head[0] = (isLast ? 0x80 : 0) | opcode;
  head[1] = 0x80 | 127;
  head.writeUInt32BE(declared, 6);
  const whole = new Uint8Array(head.length + payload.length);
  whole.set(head);
  whole.set(Buffer.from(payload), head.length);
  return whole;
}

/** Changes the configuration file of the gateway and requests a reload. */
export async function reload(target: Target, edit: (text: string) => string): Promise<void> {
  const text = await Deno.readTextFile(target.configPath);
  await Deno.writeTextFile(target.configPath, edit(text));
  Deno.kill(target.pid, "SIGHUP");
}
