import { type Line, openLine } from "./line.ts";
import { readRequest, type ReceivedRequest } from "./received_request.ts";

/** One request to the scripted upstream and every way to answer it, down to the bytes. */
export interface UpstreamExchange {
  readonly request: ReceivedRequest;
  /** Resolves when the other side hangs up; never when this side ends the connection. */
  readonly closedByPeer: Promise<void>;
  /** Sends these bytes as they are; false when the other side is gone. */
  write(bytes: string | Uint8Array): Promise<boolean>;
  /** Sends status and headers; the body is chunked unless the headers say otherwise. */
  head(status: number, headers?: Readonly<Record<string, string>>): Promise<boolean>;
  /** Sends one piece of a chunked body; false when the other side is gone. */
  chunk(bytes: string | Uint8Array): Promise<boolean>;
  /** Sends the end of a chunked body. */
  finish(): Promise<boolean>;
  /** A whole answer with a length. */
  answer(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array,
  ): Promise<boolean>;
  /** A whole JSON answer. */
  json(
    status: number,
    value: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<boolean>;
  /**
   * A stream with one chunk for each text, which brings its own separators. It ends with the body,
   * with a reset, or when the other side hangs up.
   */
  sse(texts: readonly string[], ending?: "clean" | "reset" | "hang"): Promise<void>;
  /** Sends no more but still reads: the body ends without its last chunk. */
  halfClose(): Promise<void>;
  /** Cuts the connection with a TCP reset. */
  reset(): void;
}

/** Reaction of the upstream to a request; the connection is closed when it returns. */
export type UpstreamScript = (exchange: UpstreamExchange) => Promise<unknown>;

/** A provider that a test runs on a socket. */
export interface ScriptedUpstream extends AsyncDisposable {
  /** Such as `http://127.0.0.1:50123`, without a slash at its end. */
  readonly url: string;
  /** Every request so far, in order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** The next exchange that no earlier call of this has been given. */
  next(): Promise<UpstreamExchange>;
  /** Closes every socket; throws what a script has thrown. */
  close(): Promise<void>;
}

const encoder = new TextEncoder();

/**
 * Listens on a free port and plays the script for each request; every answer ends its connection.
 */
export function startUpstream(script: UpstreamScript): ScriptedUpstream {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const requests: ReceivedRequest[] = [];
  const arrived: UpstreamExchange[] = [];
  const wanted: ((exchange: UpstreamExchange) => void)[] = [];
  const lines = new Set<Line>();
  const errors: unknown[] = [];
  const accepting = accept();

  async function accept() {
    for await (const connection of listener) {
      const line = openLine(connection);
      lines.add(line);
      void serve(line);
    }
  }

  async function serve(line: Line) {
    const request = await readRequest(line.read);
    if (request === null) return line.close();
    const exchange = exchangeOn(line, request);
    requests.push(request);
    const waiting = wanted.shift();
    if (waiting === undefined) arrived.push(exchange);
    else waiting(exchange);
    try {
      await script(exchange);
    } catch (error) {
      errors.push(error);
    }
    line.close();
  }

  async function close() {
    listener.close();
    await accepting;
    for (const line of lines) line.close();
    await Promise.all([...lines].map((line) => line.quiet()));
    if (errors.length > 0) throw errors[0];
  }

  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    requests,
    next() {
      const exchange = arrived.shift();
      return exchange === undefined
        ? new Promise((resolve) => wanted.push(resolve))
        : Promise.resolve(exchange);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function exchangeOn(line: Line, request: ReceivedRequest): UpstreamExchange {
  const gone = Promise.withResolvers<void>();
  void watch();

  async function watch() {
    while (await line.read() !== null);
    if (!line.isClosed) gone.resolve();
  }

  function head(status: number, headers: Readonly<Record<string, string>> = {}) {
    const framing = "content-length" in headers ? {} : { "transfer-encoding": "chunked" };
    const fields = Object.entries({ ...framing, connection: "close", ...headers });
    const text = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    return line.write(encoder.encode(`HTTP/1.1 ${status} Scripted\r\n${text}\r\n`));
  }

  function chunk(bytes: string | Uint8Array) {
    const content = asBytes(bytes);
    const size = encoder.encode(`${content.length.toString(16)}\r\n`);
    return line.write(joined([size, content, encoder.encode("\r\n")]));
  }

  const finish = () => line.write(encoder.encode("0\r\n\r\n"));

  async function answer(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array,
  ) {
    const content = asBytes(body);
    const length = { "content-length": String(content.length) };
    return await head(status, { ...length, ...headers }) && await line.write(content);
  }

  return {
    request,
    closedByPeer: gone.promise,
    write: (bytes) => line.write(asBytes(bytes)),
    head,
    chunk,
    finish,
    answer,
    json: (status, value, headers) =>
      answer(status, { "content-type": "application/json", ...headers }, JSON.stringify(value)),
    async sse(texts, ending = "clean") {
      await head(200, { "content-type": "text/event-stream" });
      for (const text of texts) await chunk(text);
      switch (ending) {
        case "clean":
          return void await finish();
        case "reset":
          return line.reset();
        case "hang":
          return await gone.promise;
      }
    },
    halfClose: line.halfClose,
    reset: line.reset,
  };
}

function asBytes(bytes: string | Uint8Array): Uint8Array {
  return typeof bytes === "string" ? encoder.encode(bytes) : bytes;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
