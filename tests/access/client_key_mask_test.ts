import type { Call } from "../../src/call/call.ts";
import { hideClientKey, newClientKeyMask, repeatMask } from "../../src/access/client_key_mask.ts";
import { MAX_TOKEN_CHARS } from "../../src/access/tokens/verify.ts";
import { compile } from "../../src/gateway/compile.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { parsedConfig } from "../support/parsed_config.ts";
import { fault, refuse } from "../../src/core/failure/result.ts";
import { newReport, newTrace } from "../../src/observe/report.ts";
import { storeUnderTest } from "../support/store_under_test.ts";
import { scriptedWorld } from "../support/world.ts";
import type { Target } from "../../src/wires/wire.ts";

const KEY = "own-key/of-ada";

const CONFIG = `
security: {enabled: true, api_key: {keys: [{name: ada, value: ${KEY}}]}}
providers: {up: {type: compat, base_url: "http://up", api_key: sk-upstream}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`;

/** Returns the call of a client with this key, as far as a mask looks at it. */
function callWith(key: string, report: Partial<Call["report"]> = {}): Call {
  const generation = compile(parsedConfig(CONFIG), 1);
  const headers = new Headers({ authorization: `Bearer ${key}` });
  return { headers, generation, report } as unknown as Call;
}

/** Returns the mask of a client's key. */
function maskOf(key: string) {
  return newClientKeyMask(callWith(key));
}

/** Returns a text in which some characters of the key are their codes in JSON. */
function coded(isCoded: (at: number) => boolean, backslashes = "\\"): string {
  const code = (sign: string) => sign.charCodeAt(0).toString(16).padStart(4, "0");
  return KEY.split("").map((sign, at) => isCoded(at) ? `${backslashes}u${code(sign)}` : sign)
    .join("");
}

Deno.test("a client key is masked in JSON, whichever of its characters are codes", () => {
  const { json, maxChars } = maskOf(KEY);
  const written = [
    KEY,
    KEY.replace("/", "\\/"),
    coded(() => true),
    coded((at) => at === 0),
    coded((at) => at % 2 === 1),
    coded(() => true).toUpperCase().replaceAll("\\U", "\\u"),
    coded((at) => at === 0).replace("/", "\\/"),
    coded(() => true, "\\\\"),
  ];
  for (const one of written) {
    assertEquals(json(`{"a":"<${one}>"}`), '{"a":"<[client_key]>"}', one);
    assert(one.length <= maxChars, one);
  }
  const others = '{"a":"\\u003cb\\u003e own-key/of-\\u0062da \\u00e9"}';
  assertEquals(json(others), others);
});

Deno.test("a masked text stays JSON, whatever backslashes are before the key", () => {
  const { json } = maskOf(KEY);
  for (let count = 0; count < 5; count++) {
    const written = JSON.stringify({ a: `${"\\".repeat(count)}${KEY}` });
    for (const text of [written, written.replace("own", "\\u006fwn")]) {
      const { a } = JSON.parse(json(text));
      assert(a.endsWith("[client_key]"), text);
    }
  }
});

Deno.test("many backslashes and many beginnings of a key take no longer than a text is long", () => {
  const { json } = maskOf(KEY);
  const coded = "\\u006f";
  for (const part of ["\\\\", `${coded}wn-key/of-ad`, "own-key\\\\/of-ad"]) {
    const text = `"${part.repeat(300_000 / part.length)}x${coded}"`;
    assertEquals(json(text), text);
  }
});

Deno.test("the longest token is masked in JSON with a million characters of other codes, also if its own are codes", () => {
  const token = `eyJ${"aB3-_".repeat(4_000)}`.slice(0, MAX_TOKEN_CHARS);
  const code = (unit: string) => `\\u00${unit.charCodeAt(0).toString(16)}`;
  const codes = token.replace(/./g, code);
  const { json } = maskOf(token);
  const others = code("a").repeat(100_000);
  const text = (part: string) => `{"a":"${others}${part}${others}${part}-"}`;
  for (const written of [codes, token.replace(/[ae]/g, code), token]) {
    assertEquals(json(text(written)), text("[client_key]"));
  }
  assertEquals(json(text(codes.slice(code("a").length))), text(codes.slice(code("a").length)));
});

Deno.test("a client key is in no log line, wherever its client puts it", async () => {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const { app, log, reports } = testGateway(CONFIG, world);
  const headers = { host: "localhost", authorization: `Bearer ${KEY}` };
  const requests = [
    new Request(`http://localhost/v1/responses/${KEY}`, { headers }),
    new Request(`http://localhost/v1/responses/${encodeURIComponent(KEY)}`, { headers }),
    new Request(`http://localhost/${KEY}?a=1`, { headers }),
    chatRequest({ headers: { ...headers, "x-gateway-sessionid": `of ${KEY}` } }),
    chatRequest({ headers, body: { prompt_cache_key: KEY } }),
    chatRequest({ headers, body: { model: KEY } }),
  ];
  for (const request of requests) await (await app(request)).body?.cancel();
  assertEquals(reports.length, requests.length);
  const written = [...log, ...reports.map((one) => JSON.stringify([one.path, one.attempts]))];
  const found = written.filter((line) => /own-key|of-ada/.test(line));
  assertEquals(found, []);
  assertEquals(reports.map(({ path, session, model }) => [path, session, model]), [
    ["/v1/responses/%5Bclient_key%5D", null, null],
    ["/v1/responses/%5Bclient_key%5D", null, null],
    ["/%5Bclient_key%5D", null, null],
    ["/v1/chat/completions", "of [client_key]", "m"],
    ["/v1/chat/completions", "[client_key]", "m"],
    ["/v1/chat/completions", null, "[client_key]"],
  ]);
});

Deno.test("the path of a call that runs has no client key, as the admin page shows it", async () => {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const began: string[] = [];
  const { app } = testGateway(CONFIG, world, { began: ({ path }) => void began.push(path) });
  const headers = { host: "localhost", authorization: `Bearer ${KEY}` };
  await app(new Request(`http://localhost/v1/responses/${KEY}`, { headers }));
  assertEquals(began, ["/v1/responses/%5Bclient_key%5D"]);
});

Deno.test("a path without parameters stays as it is, also if a client key is one of its words", async () => {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const file = CONFIG.replace(KEY, "completions");
  const began: string[] = [];
  const { app } = testGateway(file, world, { began: ({ path }) => void began.push(path) });
  const headers = { host: "localhost", authorization: "Bearer completions" };
  await (await app(chatRequest({ headers }))).body?.cancel();
  await (await app(new Request("http://localhost/v1/files/completions", { headers }))).body
    ?.cancel();
  assertEquals(began, ["/v1/chat/completions", "/v1/files/%5Bclient_key%5D"]);
});

Deno.test("a client key is in no path of a field and in no conversation that a span has", () => {
  const report = newReport("id", "POST", "/v1/chat/completions", 0);
  report.lossy = [`metadata.${KEY}`, "stop"];
  hideClientKey(callWith(KEY, report));
  report.conversation = `of ${KEY}`;
  // The key was cut with the name that had it.
  const cut = `metadata.${"x".repeat(246)}${KEY.slice(0, 10)}`;
  const often = `metadata.${"x".repeat(6)}${KEY.repeat(18).slice(0, 250)}`;
  const long = [cut, `${cut}.own-key/else`, `own-key/.${"y".repeat(256)}`, often];
  report.verified = long;
  hideClientKey(callWith(KEY, report));
  const masked = `metadata.${"x".repeat(246)}[client_key]`;
  const others = [
    ...[`${masked}.[client_key]else`, `[client_key].${"y".repeat(256)}`],
    `metadata.${"x".repeat(6)}${"[client_key]".repeat(18)}`,
  ];
  assertEquals(report.lossy, ["metadata.[client_key]", "stop"]);
  assertEquals(report.verified, [masked, ...others]);
  assertEquals(report.conversation, "of [client_key]");
});

Deno.test("a client key that is requested as a model is in no log line, usage or trace of the call", async () => {
  const error = { code: "model_not_found", message: "No." };
  const world = scriptedWorld({
    fetch: (_url, { headers }) =>
      new Headers(headers).get("authorization")?.endsWith("one") === true
        ? answers(403, { error })
        : answers(200, COMPLETION),
  });
  const file = CONFIG.replace(
    "api_key: sk-upstream",
    "api_keys: [{name: a, value: sk-one, weight: 1000}, {name: b, value: sk-two}]",
  );
  const { app, gateway, log, reports } = testGateway(file, world, {
    ...storeUnderTest(world),
    began: (report) => void (report.trace = newTrace()),
  });
  const headers = { host: "localhost", authorization: `Bearer ${KEY}` };
  const response = await app(chatRequest({ headers, body: { model: KEY } }));
  assertEquals(response.status, 200);
  await response.body?.cancel();
  const rested = log.find((line) => line.includes("refused a key")) ?? "";
  assert(rested.includes('"model":"[client_key]"'), log.join("\n"));
  assert(!log.join("").includes(KEY), log.join("\n"));
  const usage = await gateway.state.usage.read(["2023-11-14"]);
  assertEquals(usage.ok ? usage.value.map(({ model }) => model) : [], ["[client_key]"]);
  const [report] = reports;
  assertEquals(report?.trace?.requestedModel, "[client_key]");
  assertEquals(report?.trace?.targets.map(({ model }) => model), ["[client_key]"]);
});

Deno.test("words of a provider are without the client's key and the provider's secrets of that moment", () => {
  const provider = { secrets: ["first-token"] };
  const mask = repeatMask(callWith(KEY), { provider } as unknown as Target);
  assertEquals(mask(`first-token of ${KEY}`), "[redacted] of [client_key]");
  // A renewed credential; a short value of a header may be a common word.
  provider.secrets = ["second-token", "gpt"];
  assertEquals(mask("gpt second-token"), "gpt [redacted]");
});

Deno.test("a client key that names a property is not in the failure of a call", () => {
  const report = newReport("id", "POST", "/v1/chat/completions", 0);
  const { failure } = fault("promise_broken", `The response lacks 'schema.${KEY}'.`);
  const refused = refuse("invalid_value", "No.", `tools.${KEY}`).failure;
  for (const [one, words] of [[failure, "message"], [refused, "at"]] as const) {
    report.failure = one;
    hideClientKey(callWith(KEY, report));
    const said = words === "at"
      ? "tools.[client_key]"
      : "The response lacks 'schema.[client_key]'.";
    assertEquals(Object(report.failure)[words], said);
  }
});

Deno.test("a token of 16,000 characters is masked in JSON too, with what follows in its word", () => {
  const token = `eyJ${"a1B_".repeat(2_000)}.eyJ${"c-2D".repeat(2_000)}.sig`;
  const { json } = maskOf(token);
  const late = `${token.slice(0, -3)}\\u0073ig`;
  for (const one of [token, `\\u0065${token.slice(1)}`, late, late.replace(".", "\\\\u002e")]) {
    assertEquals(json(`{"a":"<${one} b","c":1}`), '{"a":"<[client_key] b","c":1}');
  }
});
