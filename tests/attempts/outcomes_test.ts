import { assertEquals } from "../support/assert.ts";
import { chatRequest, type Got, got } from "../support/chat_call.ts";
import { type ServedGateway, serveGateway } from "../support/gateway.ts";
import { startUpstream, type UpstreamExchange, type UpstreamScript } from "../support/upstream.ts";
import { config, inTurn, type Setting, succeed, verdictAndTarget } from "./two_targets.ts";

/** One way in which an attempt may end, and all that follows from it. */
interface Outcome {
  readonly when: string;
  readonly script: UpstreamScript;
  readonly repeats: boolean;
  readonly fallsBack: boolean;
  readonly breaker: "success" | "failure" | "neutral";
  /** Status, type and code that the client sees when nothing else succeeds. */
  readonly client: readonly [status: number, type: string, code: string | null];
  /** Only this kind of request can end so. */
  readonly only?: "json" | "stream";
}

const BUSY = { error: { message: "Busy.", type: "their_type", code: "their_code" } };
const STATUS = [502, "upstream_error", "invalid_upstream_status"] as const;
const UNREACHABLE = [502, "upstream_error", "upstream_unreachable"] as const;
const INVALID = [502, "upstream_error", "invalid_upstream_response"] as const;
const ALL_HELP = { repeats: true, fallsBack: true, breaker: "failure" } as const;

function status(code: number): UpstreamScript {
  return (exchange) => exchange.json(code, BUSY);
}

function raw(head: string): UpstreamScript {
  return (exchange) => exchange.write(`HTTP/1.1 ${head}\r\n\r\n`);
}

function body(text: string): UpstreamScript {
  return (exchange) =>
    exchange.request.body.includes('"stream":true')
      ? exchange.sse(text === "" ? [] : [`data: ${text}\n\n`])
      : exchange.answer(200, {}, text);
}

/** Outcomes of these statuses. A status is judged before the kind of the request matters. */
function theirs(
  when: string,
  codes: readonly number[],
  verdict: Pick<Outcome, "repeats" | "fallsBack" | "breaker">,
): readonly Outcome[] {
  return codes.map((code, at) => ({
    when: `${when} (${code})`,
    script: status(code),
    client: [code, "their_type", "their_code"],
    ...verdict,
    ...at > 0 && { only: "json" as const },
  }));
}

async function halfABody(exchange: UpstreamExchange) {
  await exchange.head(200, { "content-type": "text/event-stream" });
  await exchange.chunk("data: ");
}

const OUTCOMES: readonly Outcome[] = [
  ...theirs("a retryable 5xx", [500, 502, 503, 504, 529], ALL_HELP),
  ...theirs("a retryable 4xx", [429], { repeats: true, fallsBack: true, breaker: "neutral" }),
  ...theirs("another 5xx", [501, 505, 599], {
    repeats: false,
    fallsBack: true,
    breaker: "failure",
  }),
  ...theirs("another 4xx", [400, 401, 403, 404, 408, 409, 413, 422, 498], {
    repeats: false,
    fallsBack: false,
    breaker: "neutral",
  }),
  ...theirs("status", [201, 202, 205, 206, 300, 303, 305, 399, 499, 600], ALL_HELP)
    .map((outcome): Outcome => ({ ...outcome, client: STATUS })),
  ...["204 No Content", "304 Not Modified", "101 Switching Protocols\r\nupgrade: x"].map((
    head,
  ) => ({
    when: `status ${head.slice(0, 3)}`,
    script: raw(head),
    client: STATUS,
    ...ALL_HELP,
  })),
  {
    when: "a redirect, which is not followed",
    script: (exchange) => exchange.answer(307, { location: "/chat/completions" }, ""),
    client: STATUS,
    ...ALL_HELP,
  },
  {
    when: "a 1xx and then the end of the connection",
    script: raw("100 Continue"),
    client: UNREACHABLE,
    ...ALL_HELP,
  },
  {
    when: "a reset before the headers",
    script: (exchange) => Promise.resolve(exchange.reset()),
    client: UNREACHABLE,
    ...ALL_HELP,
  },
  {
    when: "something that is not HTTP",
    script: (exchange) => exchange.write("hello\r\n\r\n"),
    client: UNREACHABLE,
    ...ALL_HELP,
  },
  {
    when: "a reset inside the body",
    async script(exchange) {
      await halfABody(exchange);
      exchange.reset();
    },
    client: UNREACHABLE,
    ...ALL_HELP,
  },
  {
    when: "a body that is cut off",
    async script(exchange) {
      await exchange.head(200, { "content-length": "100" });
      await exchange.write("data: {}");
    },
    client: UNREACHABLE,
    ...ALL_HELP,
  },
  ...["", "{", "null", "[]", "{}", "<html>", '{"choices":null}'].map((text): Outcome => ({
    when: `a body or first record that is ${text === "" ? "empty" : text}`,
    script: body(text),
    client: INVALID,
    ...ALL_HELP,
  })),
  {
    when: "a completion without choices",
    script: body('{"choices":[]}'),
    client: INVALID,
    ...ALL_HELP,
    only: "json",
  },
  {
    when: "a stream that says it is done before it said anything",
    script: body("[DONE]"),
    client: INVALID,
    ...ALL_HELP,
    only: "stream",
  },
  {
    when: "a stream that ends after a role",
    script: body('{"choices":[{"index":0,"delta":{"role":"assistant"}}]}'),
    client: INVALID,
    ...ALL_HELP,
    only: "stream",
  },
  {
    when: "a body that is not UTF-8",
    script: (exchange) => exchange.answer(200, {}, new Uint8Array([0x22, 0xff, 0x22, 0x0a, 0x0a])),
    client: INVALID,
    ...ALL_HELP,
  },
  {
    when: "an error in place of a response",
    script: body('{"error":{"message":"Broken.","type":"their_type","code":"their_code"}}'),
    client: [502, "their_type", "their_code"],
    ...ALL_HELP,
  },
];

async function ask(gateway: ServedGateway, stream: boolean): Promise<Got> {
  return await got(await fetch(chatRequest({ url: gateway.url, body: { model: "x", stream } })));
}

async function repeats({ script, client }: Outcome, stream: boolean): Promise<boolean> {
  await using upstream = startUpstream(script);
  const retry = "max_attempts: 2, initial_delay: 0s";
  await using gateway = serveGateway(config({ first: upstream.url, retry }));
  assertEquals(verdictAndTarget(await ask(gateway, stream)), [...client, "first/x"]);
  return upstream.requests.length === 2;
}

async function fallsBack({ script, client }: Outcome, stream: boolean): Promise<boolean> {
  await using upstream = startUpstream(script);
  await using other = startUpstream(succeed);
  const setting: Setting = { first: upstream.url, second: other.url };
  await using gateway = serveGateway(config(setting));
  const answer = await ask(gateway, stream);
  assertEquals(upstream.requests.length, 1);
  const isServed = answer.status === 200;
  const expected = isServed ? [200, undefined, undefined, "second/y"] : [...client, "first/x"];
  assertEquals(verdictAndTarget(answer), expected);
  return isServed;
}

/**
 * Between two failures, of which two open the breaker: a success parts them, a neutral one does
 * not.
 */
async function breakerHears({ script }: Outcome, stream: boolean): Promise<Outcome["breaker"]> {
  await using upstream = startUpstream(inTurn(status(501), script, status(501), succeed));
  const breaker = "failure_threshold: 2";
  await using gateway = serveGateway(config({ first: upstream.url, breaker }));
  const codes: unknown[] = [];
  for (let call = 0; call < 4; call++) codes.push((await ask(gateway, stream)).error.code);
  if (codes[2] === "circuit_open") return "failure";
  return codes[3] === "circuit_open" ? "neutral" : "success";
}

for (const outcome of OUTCOMES) {
  for (const kind of ["json", "stream"] as const) {
    if (outcome.only !== undefined && outcome.only !== kind) continue;
    Deno.test(`what follows in a ${kind} call: ${outcome.when}`, async () => {
      const stream = kind === "stream";
      assertEquals(await repeats(outcome, stream), outcome.repeats, "repeats");
      assertEquals(await fallsBack(outcome, stream), outcome.fallsBack, "falls back");
      assertEquals(await breakerHears(outcome, stream), outcome.breaker, "breaker");
    });
  }
}
