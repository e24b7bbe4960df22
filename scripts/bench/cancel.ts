import { encodePost } from "./http_client.ts";
import { configText } from "./configs.ts";
import { chatRequest } from "./payloads.ts";
import type { ServerProcesses } from "./processes.ts";

/** The phase of a request in which its client disconnects. */
export type CancelPhase = "waiting for headers" | "inside a JSON body" | "inside a stream";

/**
 * The times in milliseconds from the client's disconnect until the upstream sees it, ascending.
 * Infinite if it does not see it.
 */
export interface CancelResult {
  readonly phase: CancelPhase;
  readonly timesMs: readonly number[];
}

const REPEAT_COUNT = 9;

/** Time limit for the upstream to see a disconnect. */
const CANCEL_TIMEOUT_MS = 1000;

const PARTIAL_RESPONSES: Readonly<Record<CancelPhase, string>> = {
  "waiting for headers": "",
  "inside a JSON body":
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"id":"c1",',
  "inside a stream": "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" +
    'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"bench",' +
    '"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n',
};

/** Disconnects clients of a new gateway in each phase and measures when the upstream sees it. */
export async function measureCancel(
  servers: ServerProcesses,
  core: number,
): Promise<CancelResult[]> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listener.addr.port}`;
  const gateway = await servers.start("gateway.ts", configText("one", url), core);
  const results: CancelResult[] = [];
  for (const phase of ["waiting for headers", "inside a JSON body", "inside a stream"] as const) {
    const times: number[] = [];
    for (let at = 0; at < REPEAT_COUNT; at++) {
      times.push(await disconnectOnce(phase, gateway.port, listener));
    }
    results.push({ phase, timesMs: times.toSorted((a, b) => a - b) });
  }
  return results;
}

async function disconnectOnce(
  phase: CancelPhase,
  port: number,
  listener: Deno.TcpListener,
): Promise<number> {
  const body = chatRequest(phase === "inside a stream" ? "sse-1" : "json", 20_000);
  const client = await Deno.connect({ hostname: "127.0.0.1", port });
  await new Response(encodePost("/v1/chat/completions", body, {}).slice()).body?.pipeTo(
    client.writable,
    { preventClose: true },
  );
  using upstream = await listener.accept();
  const buffer = new Uint8Array(64 * 1024);
  for (let received = 0; received < body.length;) {
    received += await upstream.read(buffer) ?? body.length;
  }
  await upstream.write(new TextEncoder().encode(PARTIAL_RESPONSES[phase]));
  if (phase === "inside a stream") await client.read(buffer);
  // The gateway must have read the bytes before the client disconnects.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const began = performance.now();
  client.close();
  const timer = Promise.withResolvers<number>();
  const timeout = setTimeout(() => timer.resolve(Infinity), CANCEL_TIMEOUT_MS);
  const seen = await Promise.race([waitForClose(upstream, buffer, began), timer.promise]);
  clearTimeout(timeout);
  return seen;
}

async function waitForClose(
  upstream: Deno.TcpConn,
  buffer: Uint8Array,
  began: number,
): Promise<number> {
  try {
    while (await upstream.read(buffer) !== null);
  } catch {
    // A reset counts as the end of the connection.
  }
  return performance.now() - began;
}
