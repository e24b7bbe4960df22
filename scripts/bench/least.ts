import { isObject, parseJson } from "../../src/core/json.ts";
import { utf8Text } from "../../src/formats/utf8.ts";
import { sentOnce } from "../../src/upstream/sent_once.ts";
import { serveUntilStdinEnds } from "./serve.ts";

// The least that a gateway in this runtime can do: it notices a client that leaves, reads and checks
// what it is asked, sends it once and not again, and reads what it hands on. No routes, no log, no
// metrics, no deadlines, no failures. Its argument is the upstream's URL.

const [upstream = ""] = Deno.args;
const client = Deno.createHttpClient({ http2: false, poolMaxIdlePerHost: 256 });
const decoder = new TextDecoder(), encoder = new TextEncoder();
const READ = 16 * 1024;

serveUntilStdinEnds(async (request) => {
  const leaving = new AbortController();
  let isAnswered = false;
  request.signal.addEventListener("abort", () => isAnswered || leaving.abort(), { once: true });
  const text = utf8Text(await request.bytes()) ?? "";
  const asked = parseJson(text);
  if (!isObject(asked) || !Array.isArray(asked.messages)) throw new Error("no chat request");
  const response = await fetch(upstream, {
    method: "POST",
    body: sentOnce(text),
    headers: { "content-type": "application/json", "accept-encoding": "identity" },
    redirect: "manual",
    signal: leaving.signal,
    client,
  });
  const { body } = response;
  if (body !== null && asked.stream === true) {
    isAnswered = true;
    return new Response(relayed(body), { headers: { "content-type": "text/event-stream" } });
  }
  const bytes = await response.bytes();
  if (!isObject(parseJson(utf8Text(bytes) ?? ""))) throw new Error("no completion");
  isAnswered = true;
  const headers = { "content-type": "application/json", "cache-control": "no-transform" };
  return new Response(bytes, { headers });
});

/** Reads into one buffer, writes at most once a millisecond. */
function relayed(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array> {
  const reader = body.getReader({ mode: "byob" });
  let isGone = false;
  return new ReadableStream({
    start(controller) {
      void pump(controller);
    },
    async cancel() {
      isGone = true;
      await reader.cancel();
    },
  }, { highWaterMark: 2 });

  async function pump(controller: ReadableStreamDefaultController<Uint8Array>) {
    let gathered = "";
    let lastWrite = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;

    function write() {
      clearTimeout(timer);
      timer = undefined;
      if (gathered === "" || isGone) return;
      lastWrite = performance.now();
      controller.enqueue(encoder.encode(gathered));
      gathered = "";
    }

    for (let buffer = new ArrayBuffer(READ);;) {
      const { value } = await reader.read(new Uint8Array(buffer));
      if (value === undefined || value.length === 0) break;
      buffer = value.buffer;
      gathered += decoder.decode(value);
      if (performance.now() - lastWrite >= 1) write();
      else timer ??= setTimeout(write, 1);
    }
    write();
    if (!isGone) controller.close();
  }
}
