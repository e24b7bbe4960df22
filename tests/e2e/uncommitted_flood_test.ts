import { assert, assertEquals } from "../support/assert.ts";
import { got, verdictOf } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { saying } from "../support/word_stream.ts";
import { scriptedWorld } from "../support/world.ts";
import { chunk, ROLE, sse } from "./streamed.ts";

const KIB = 1024, MIB = 1024 * KIB;
const MAX_RECORDS = 1024, MAX_BYTES = 4 * MIB;

/** Pieces in one read of the upstream's body, and in all of it: far more than may be read. */
const GROUP_RECORDS = 64, MAX_PIECES = 20 * MAX_RECORDS;

type ProviderName = "compat" | "native" | "messages" | "local";

/** Stream of a provider that never ends: a beginning, then pieces that carry nothing. */
interface Flood {
  readonly what: string;
  readonly begin?: string;
  readonly piece: (at: number) => string;
  /** The client API to which the pieces carry nothing; both when absent. */
  readonly only?: "chat";
}

const COMMENTS: Flood = { what: "comments", piece: () => ": ping\n\n" };
const EMPTY: Flood = { what: "records without data", piece: () => "data:\n\n" };
const NAMES: Flood = { what: "records with only a name", piece: () => "event: ping\n\n" };

function event(at: number, type: string, members: Record<string, unknown> = {}): string {
  return `event: ${type}\n${sse({ type, sequence_number: at, ...members })}`;
}

const RESPONSE = { id: "resp_1", object: "response", status: "in_progress", output: [] };
const MESSAGE = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [] };

const FLOODS: Readonly<Record<ProviderName, readonly Flood[]>> = {
  compat: [
    COMMENTS,
    EMPTY,
    NAMES,
    { what: "chunks with only a role", piece: () => sse(ROLE) },
    { what: "comments behind a role", begin: sse(ROLE), piece: COMMENTS.piece },
    { what: "chunks without choices", piece: () => sse({ ...chunk({}), choices: [] }) },
    { what: "usage chunks", piece: () => sse({ choices: [], usage: { prompt_tokens: 1 } }) },
  ],
  native: [
    COMMENTS,
    EMPTY,
    NAMES,
    { what: "signs of life", piece: (at) => event(at, "keepalive") },
    {
      what: "responses that are in progress",
      piece: (at) => event(at, "response.in_progress", { response: RESPONSE }),
      only: "chat",
    },
  ],
  messages: [
    COMMENTS,
    EMPTY,
    NAMES,
    { what: "pings", piece: () => sse({ type: "ping" }) },
    {
      what: "pings behind the beginning",
      begin: sse({ type: "message_start", message: MESSAGE }),
      piece: () => sse({ type: "ping" }),
    },
  ],
  local: [
    { what: "blank lines", piece: () => "\n" },
    { what: "lines of blanks", piece: () => " \t\r\n" },
    {
      what: "lines without content",
      piece: () => '{"message":{"role":"assistant","content":""},"done":false}\n',
    },
  ],
};

const APIS = {
  chat: {
    path: "/v1/chat/completions",
    body: { model: "m", stream: true, messages: [{ role: "user", content: "Hi" }] },
  },
  // The request stores nothing: one with side effects would not be retried elsewhere.
  responses: {
    path: "/v1/responses",
    body: { model: "m", stream: true, store: false, input: "Hi" },
  },
} as const;

type ApiName = keyof typeof APIS;

function configOf(name: ProviderName, more: string, fallback = "[{provider: other}]"): string {
  const type = name === "native" ? "compat" : name;
  const request = name === "native" ? ", upstream_request_type: responses" : "";
  return `
providers:
  up: {type: ${type}, base_url: "http://up.test"}
  other: {type: compat, base_url: "http://other.test"}
routing:
  routes:
    - name: main
      targets: [{provider: up${request}}]
      fallback: ${fallback}
circuit_breaker: {enabled: false}
${more}
`;
}

/** A body that would go on, and how much of it has been read. */
function endless({ begin = "", piece }: Flood) {
  const encoder = new TextEncoder();
  let pieces = 0;
  let bytes = 0;
  let isBegun = begin === "";
  const body = new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (pieces >= MAX_PIECES) {
        controller.close();
        return controller.byobRequest?.respond(0);
      }
      const text = isBegun
        ? Array.from({ length: GROUP_RECORDS }, () => piece(pieces++)).join("")
        : begin;
      isBegun = true;
      bytes += text.length;
      controller.enqueue(encoder.encode(text));
    },
  });
  return { body, read: () => ({ pieces, bytes }) };
}

/** Calls a gateway whose first provider floods it. */
async function flooded(
  api: ApiName,
  provider: ProviderName,
  flood: Flood,
  more = "retry: {enabled: false}",
  fallback?: string,
) {
  const floods: ReturnType<typeof endless>[] = [];
  const world = scriptedWorld({
    fetch(url) {
      if (url.startsWith("http://other.test")) return saying("Hello");
      const next = endless(flood);
      floods.push(next);
      return Promise.resolve(new Response(next.body));
    },
  });
  const gateway = testGateway(configOf(provider, more, fallback), world);
  const { path, body } = APIS[api];
  const sent = { method: "POST", body: JSON.stringify(body) };
  const waiting = gateway.app(new Request(`http://localhost${path}`, sent));
  await world.advance(10_000);
  const answer = await got(await waiting);
  const report = await gateway.reported(1);
  return { answer, tries: report.attempts, read: floods.map((one) => one.read()) };
}

for (const api of ["chat", "responses"] as const) {
  for (const provider of ["compat", "native", "messages", "local"] as const) {
    for (const flood of FLOODS[provider]) {
      if (flood.only !== undefined && flood.only !== api) continue;
      const from = `${flood.what} of ${provider}`;
      Deno.test(`${api}: ${from} without end are a failed attempt after 1,024`, async () => {
        const { answer, tries, read } = await flooded(api, provider, flood);
        assertEquals(tries.map(({ outcome }) => outcome), [
          "upstream_response_too_large",
          "success",
        ]);
        assertEquals([answer.status, answer.headers.get("x-gateway-provider")], [200, "other"]);
        assert(answer.text.includes("Hello"), answer.text);
        const [{ pieces } = { pieces: 0 }] = read;
        assert(
          pieces >= MAX_RECORDS && pieces <= MAX_RECORDS + 2 * GROUP_RECORDS,
          `read ${pieces}`,
        );
      });
    }
  }

  for (const provider of ["compat", "native", "messages", "local"] as const) {
    const isLines = provider === "local";
    const large: Flood = isLines
      ? { what: "long blank lines", piece: () => `${" ".repeat(8 * KIB)}\n` }
      : { what: "long comments", piece: () => `:${"x".repeat(8 * KIB)}\n\n` };
    const floods = isLines ? [large] : [large, {
      what: "blank lines",
      piece: () => "\n".repeat(KIB),
    }];
    for (const flood of floods) {
      const name = `${api}: ${flood.what} of ${provider} are a failed attempt after 4 MiB`;
      Deno.test(name, async () => {
        const { answer, tries, read } = await flooded(api, provider, flood);
        assertEquals(tries[0]?.outcome, "upstream_response_too_large");
        assertEquals(answer.headers.get("x-gateway-provider"), "other");
        const [{ bytes } = { bytes: 0 }] = read;
        assert(bytes > MAX_BYTES && bytes < MAX_BYTES + 2 * MIB, `read ${bytes}`);
      });
    }
  }
}

Deno.test("a stream that begins with too many records without content is retried", async () => {
  for (const provider of ["compat", "local"] as const) {
    const [flood = COMMENTS] = FLOODS[provider];
    const more = "retry: {max_attempts: 2, initial_delay: 1s}";
    const { answer, tries } = await flooded("chat", provider, flood, more, "[]");
    const outcome = "upstream_response_too_large";
    assertEquals(tries.map((one) => one.outcome), [outcome, outcome]);
    assertEquals(verdictOf(answer), [502, "upstream_error", outcome]);
  }
});
