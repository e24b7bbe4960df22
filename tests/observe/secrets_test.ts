import fc from "fast-check";
import type { JsonObject } from "../../src/core/json/json.ts";
import { accessLog } from "../../src/observe/access_log.ts";
import { type Level, newLog, textOf } from "../../src/observe/log.ts";
import { attemptAttributes, requestAttributes } from "../../src/observe/spans/span_attributes.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { streamOf } from "../support/pieces.ts";
import { scriptedWorld } from "../support/world.ts";

/** Each secret is in one place of the configuration and must be found in no output. */
const SECRETS = {
  prompt: "marker-prompt",
  answer: "marker-answer",
  key: "marker-provider-key",
  client: "marker-client-key",
  header: "marker-header",
  query: "marker-query",
  userinfo: "marker-userinfo",
  error: "marker-error-text",
} as const;

const CONFIG = `
providers:
  up:
    type: compat
    base_url: "http://user:${SECRETS.userinfo}@up/v1"
    api_key: ${SECRETS.key}
    headers: {x-static: ${SECRETS.header}}
routing:
  routes: [{name: main, targets: [{provider: up}]}]
retry: {enabled: false}
circuit_breaker: {enabled: false}
security: {enabled: true, api_key: {keys: [{name: team, value: ${SECRETS.client}}]}}
`;

const ALL = JSON.stringify(Object.values(SECRETS));
const CHUNK = chunkOf({ delta: { content: SECRETS.answer } });
const LAST = chunkOf({ delta: {}, finish_reason: "stop" });

function chunkOf(choice: JsonObject): string {
  const choices = [{ index: 0, ...choice }];
  return JSON.stringify({ id: "c", object: "chat.completion.chunk", choices });
}

function completion(finish_reason: string) {
  const message = { role: "assistant", content: SECRETS.answer };
  return { id: "c", object: "chat.completion", choices: [{ index: 0, message, finish_reason }] };
}

/** Responses of a provider that repeat a secret. */
const PROVIDERS: Readonly<Record<string, () => Promise<Response>>> = {
  answers: () => answers(200, completion("stop")),
  "answers nonsense": () => answers(200, ALL),
  "answers something else": () => answers(200, `<html>${ALL}</html>`),
  "refuses": () => answers(400, { error: { message: ALL, type: ALL, code: ALL, param: ALL } }),
  "fails": () => answers(503, ALL),
  "moves": () => answers(302, "", { location: `http://${SECRETS.userinfo}@elsewhere/` }),
  "cannot be reached": () => Promise.reject(new TypeError(`tcp connect error: ${ALL}`)),
  "streams": () => streams(`data: ${CHUNK}\n\ndata: ${LAST}\n\ndata: [DONE]\n\n`),
  "breaks off": () => streams(`data: ${CHUNK}\n\n`),
  "streams nonsense": () => streams(`data: ${CHUNK}\n\ndata: ${ALL}{\n\n`),
};

function streams(text: string): Promise<Response> {
  const headers = { "content-type": "text/event-stream" };
  return Promise.resolve(
    new Response(streamOf([new TextEncoder().encode(text)]), { status: 200, headers }),
  );
}

interface Asked {
  readonly provider: string;
  readonly path: string;
  readonly method: string;
  readonly stream: boolean;
  readonly isBroken: boolean;
  readonly key: string;
  readonly headers: readonly string[];
}

const HEADERS = ["x-api-key", "cookie", "traceparent", "user-agent"] as const;

const asked: fc.Arbitrary<Asked> = fc.record({
  provider: fc.constantFrom(...Object.keys(PROVIDERS)),
  path: fc.constantFrom("/v1/chat/completions", "/v1/embeddings", "/v1/nowhere", "/v1/models"),
  method: fc.constantFrom("POST", "GET", "DELETE"),
  stream: fc.boolean(),
  isBroken: fc.boolean(),
  key: fc.constantFrom(SECRETS.client, SECRETS.header),
  headers: fc.subarray([...HEADERS]),
});

Deno.test("whatever a provider does, no secret is in a log line, a metric or a span", async () => {
  for (const provider of Object.keys(PROVIDERS)) {
    for (const stream of [false, true]) {
      const [report] = await assertSilent({
        provider,
        path: "/v1/chat/completions",
        method: "POST",
        stream,
        isBroken: false,
        key: SECRETS.client,
        headers: HEADERS,
      });
      assertEquals(report?.attempts.length, 1);
    }
  }
});

Deno.test("whatever a client asks, no secret is in a log line, a metric or a span", async () => {
  await fc.assert(fc.asyncProperty(asked, async (one) => void await assertSilent(one)));
});

async function assertSilent(one: Asked) {
  const fetch = PROVIDERS[one.provider] ?? (() => Promise.reject(new TypeError("unknown")));
  const gateway = testGateway(CONFIG, scriptedWorld({ fetch }));
  const response = await gateway.app(requestOf(one));
  const answer = await response.text();
  // A complete response says what the provider said.
  for (const secret of response.ok ? [] : [SECRETS.key, SECRETS.userinfo]) {
    assert(!answer.includes(secret), answer);
  }
  const metrics = await gateway.app(new Request("http://gateway/metrics"));
  assert(gateway.log.length > 0);
  const texts = [await metrics.text(), ...gateway.log, ...textsOf(gateway.reports)];
  for (const [place, secret] of Object.entries(SECRETS)) {
    const leak = texts.find((text) => text.includes(secret));
    assert(leak === undefined, `${place} in ${leak}`);
  }
  return gateway.reports;
}

function requestOf(one: Asked): Request {
  const messages = [{ role: "user", content: SECRETS.prompt }];
  const body = JSON.stringify({ model: "m", messages, input: SECRETS.prompt, stream: one.stream });
  return new Request(`http://gateway${one.path}?key=${SECRETS.query}`, {
    method: one.method,
    headers: {
      authorization: `Bearer ${one.key}`,
      ...Object.fromEntries(one.headers.map((name) => [name, SECRETS.header])),
    },
    body: one.method === "GET" ? null : one.isBroken ? body.slice(0, -1) : body,
  });
}

/** The reports as console lines of every level, and as attributes of spans. */
function textsOf(reports: ReturnType<typeof testGateway>["reports"]): readonly string[] {
  const lines: string[] = [];
  for (const level of ["debug", "info", "warn", "error"] satisfies Level[]) {
    const sink = accessLog(
      newLog({ level, format: "console" }, (line) => void lines.push(textOf(line))),
    );
    reports.forEach(sink);
  }
  for (const report of reports) {
    lines.push(JSON.stringify(requestAttributes(report)));
    for (const one of report.attempts) {
      lines.push(
        JSON.stringify(
          attemptAttributes(report, one, { failure: null, facts: null, provider: null }),
        ),
      );
    }
  }
  return lines;
}
