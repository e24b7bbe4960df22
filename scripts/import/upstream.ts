/** A request that arrived at the upstream. */
export interface Arrived {
  /** How the upstream acts: the first part of the path. */
  readonly at: string;
  readonly path: string;
  readonly model: string;
  readonly key: string;
  /** Members of the body that a file can set. */
  readonly parameters: string;
}

/** An upstream that both gateways call. */
export interface Upstream extends AsyncDisposable {
  readonly address: string;
  /** Returns what has arrived since the last call. */
  take(): readonly Arrived[];
}

/** Time between the pieces of a slow stream. */
const PIECE_MS = 400;

/** Number of pieces of a slow stream: together they take longer than the timeout of its case. */
const PIECES_COUNT = 5;

/** Starts an upstream of Chat Completions and Messages that records what arrives. */
export function startUpstream(): Upstream {
  let arrived: Arrived[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const [, at = "", ...rest] = new URL(request.url).pathname.split("/");
    const path = rest.join("/");
    if (request.method !== "POST") return new Response("{}", { status: 404 });
    const body = await request.json();
    const key = request.headers.get("authorization")?.replace("Bearer ", "") ??
      request.headers.get("x-api-key") ?? "";
    const { temperature, max_tokens, max_completion_tokens: most } = body;
    const parameters = path.endsWith("messages")
      ? ""
      : JSON.stringify([temperature ?? null, max_tokens ?? most ?? null]);
    arrived.push({ at, path, model: body.model, key, parameters });
    if (at === "long") {
      return refusal(
        400,
        "context_length_exceeded",
        "This model's maximum context length is 8192 tokens.",
      );
    }
    const status = Number(at);
    if (status >= 400) return refusal(status, "bad", "no");
    if (path.endsWith("messages")) return Response.json(message(body.model));
    return body.stream === true
      ? stream(body.model, at === "slow")
      : Response.json(completion(body.model));
  });
  return {
    address: `http://127.0.0.1:${server.addr.port}`,
    take() {
      const taken = arrived;
      arrived = [];
      return taken;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function refusal(status: number, code: string, message: string): Response {
  const error = { message, type: "invalid_request_error", code, param: "messages" };
  return Response.json({ error }, { status });
}

/** Returns a completion of Chat Completions. */
export function completion(model: string) {
  const message = { role: "assistant", content: "Hello." };
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model,
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

/** Returns a message of the Messages API. */
export function message(model: string) {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    content: [{ type: "text", text: "Hello." }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
}

function stream(model: string, isSlow: boolean): Response {
  const encoder = new TextEncoder();
  const chunk = (delta: object, reason: string | null) =>
    encoder.encode(`data: ${
      JSON.stringify({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 1,
        model,
        choices: [{ index: 0, delta, finish_reason: reason }],
      })
    }\n\n`);
  const pieces = ReadableStream.from((async function* () {
    for (let piece = 0; piece < PIECES_COUNT; piece++) {
      yield chunk({ role: "assistant", content: "word " }, null);
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, PIECE_MS));
    }
    yield chunk({}, "stop");
    yield encoder.encode("data: [DONE]\n\n");
  })());
  return new Response(pieces, { headers: { "content-type": "text/event-stream" } });
}
