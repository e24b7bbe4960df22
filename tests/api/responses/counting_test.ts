import { ConnectionError } from "../../../src/core/failure/connection_error.ts";
import { assertEquals } from "../../support/assert.ts";
import {
  type Account,
  naming,
  nativeConfig,
  nativeGateway,
  type ScriptedResponse,
} from "../../support/native_gateway.ts";
import { got } from "../../support/chat_call.ts";
import { oneProvider, serveGateway } from "../../support/gateway.ts";
import { refusalOf } from "../../support/state_call.ts";
import { startUpstream } from "../../support/upstream.ts";

interface Operation {
  readonly capability: string;
  readonly right: string;
  readonly wrong: readonly string[];
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  compact: {
    capability: "response_compaction",
    right: ' {"object":"response.compaction", "id":"cmp_\\u0031","output":[],"n":1.0}\n',
    wrong: [
      '{"object":"response.compaction"}',
      '{"object":"response.compaction","id":""}',
      '{"object":"response.compaction","id":" cmp_1"}',
      '{"object":"response.compaction","id":1}',
      '{"object":"response.compaction","id":"a","id":"b"}',
      '{"object":"response","id":"cmp_1"}',
      '[{"object":"response.compaction","id":"cmp_1"}]',
      "",
    ],
  },
  input_tokens: {
    capability: "response_input_tokens",
    right: '{ "object":"response.input_tokens","input_tokens":  12}',
    wrong: [
      '{"object":"response.input_tokens"}',
      '{"object":"response.input_tokens","input_tokens":"12"}',
      '{"object":"response.input_tokens","input_tokens":1.5}',
      '{"input_tokens":12}',
      "[]",
    ],
  },
};

for (const [name, { capability, right, wrong }] of Object.entries(OPERATIONS)) {
  const path = `/responses/${name}`;
  const able = { can: [capability] };
  const body = '{"model":"m",  "input":"H\\u0069","x":[1.0]}';
  const gateway = (
    accounts: Readonly<Record<string, Account>>,
    says: ScriptedResponse | Error = { body: right },
  ) => nativeGateway(nativeConfig(accounts), () => says);

  Deno.test(`${name} requires a model if "auto" has no candidates`, async () => {
    const calls = gateway({ first: able });
    const answer = await calls.post(path, { model: "auto", input: "Hi" });
    assertEquals(refusalOf(answer), [400, "missing_required_parameter", "model"]);
    assertEquals(calls.requests.length, 0);
  });

  Deno.test(`${name} is sent to the only capable provider, byte for byte in both directions`, async () => {
    const calls = gateway({ first: {}, second: able });
    const answer = await calls.post(path, body, { accept: "a/b" });
    assertEquals([answer.status, answer.text], [200, right]);
    assertEquals([calls.lastRequest(), calls.requests[0]?.body], [`second POST ${path}`, body]);
    assertEquals(calls.requests[0]?.headers.get("accept"), "a/b");
    const shown = ["x-gateway-provider", "x-gateway-model"];
    assertEquals(shown.map((header) => answer.headers.get(header)), ["second", "m"]);
  });

  Deno.test(`${name} with several capable providers requires a provider name`, async () => {
    const calls = gateway({ first: able, second: able });
    assertEquals(refusalOf(await calls.post(path, body)), [400, "ambiguous_provider", "provider"]);
    assertEquals(calls.requests.length, 0);
    await calls.post(path, body, naming("second"));
    assertEquals(calls.requests.at(-1)?.host, "second");
    await calls.post(path, body.replace('"m"', '"first/m"'));
    assertEquals([calls.requests.at(-1)?.host, calls.requests.at(-1)?.body], ["first", body]);
    await calls.post(path, body, { "x-gateway-model": "second/m-2" });
    const sent = calls.requests.at(-1);
    assertEquals([sent?.host, sent?.body], ["second", body.replace('"m"', '"m-2"')]);
  });

  Deno.test(`${name} without a capable provider is refused`, async () => {
    const calls = gateway({ first: {}, second: {} });
    const expected = [400, "unsupported_feature", "provider"];
    assertEquals(refusalOf(await calls.post(path, body)), expected);
    assertEquals(refusalOf(await calls.post(path, body, naming("first"))), expected);
    const one = gateway({ first: able, second: {} });
    assertEquals(refusalOf(await one.post(path, body, naming("second"))), expected);
    const unknown = await one.post(path, body, naming("nobody"));
    assertEquals(refusalOf(unknown), [400, "provider_not_found", "provider"]);
    assertEquals(calls.requests.length + one.requests.length, 0);
    one.reload(nativeConfig({ first: {} }));
    assertEquals(refusalOf(await one.post(path, body)), expected);
  });

  Deno.test(`${name} with an invalid upstream response is a 502`, async () => {
    for (const says of wrong) {
      const answer = await gateway({ up: able }, { body: says }).post(path, body);
      assertEquals([answer.status, answer.error.code], [502, "invalid_upstream_response"], says);
    }
    const room = 16 * 1024 * 1024 - right.length;
    const fits = await gateway({ up: able }, { body: right + " ".repeat(room) }).post(path, body);
    assertEquals(fits.status, 200);
    const large = gateway({ up: able }, { body: right + " ".repeat(room + 1) });
    const answer = await large.post(path, body);
    assertEquals([answer.status, answer.error.code], [502, "upstream_response_too_large"]);
  });

  Deno.test(`${name} is never retried after any failure`, async () => {
    const failures: (ScriptedResponse | Error)[] = [429, 500, 503, 202].map((status) => ({
      status,
      body: "",
    }));
    for (const says of [...failures, new ConnectionError("refused", "nothing listens")]) {
      const calls = gateway({ first: able, second: {} }, says);
      await calls.post(path, body);
      assertEquals(calls.requests.map(({ host }) => host), ["first"]);
    }
  });

  Deno.test(`${name} refuses a model that is no string`, async () => {
    const refused = await gateway({ up: able }).post(path, { model: 5 });
    assertEquals(refusalOf(refused), [400, "invalid_type", "model"]);
  });
}

Deno.test("compaction requires a model, token counting does not", async () => {
  const accounts = { up: { can: ["response_compaction", "response_input_tokens"] } };
  const says = ({ path }: { readonly path: string }) => ({
    body: OPERATIONS[path.replace("/responses/", "")]?.right ?? "",
  });
  const calls = nativeGateway(nativeConfig(accounts), says);
  const refused = await calls.post("/responses/compact", { input: "x" });
  assertEquals(refusalOf(refused), [400, "missing_required_parameter", "model"]);
  assertEquals((await calls.post("/responses/input_tokens", { input: "x" })).status, 200);
  assertEquals(calls.requests[0]?.body, '{"input":"x"}');
  const defaults = { up: { ...accounts.up, more: ["default_model: d"] } };
  const filled = nativeGateway(nativeConfig(defaults), says);
  await filled.post("/responses/input_tokens", { input: "x" });
  assertEquals(filled.requests[0]?.json, { model: "d", input: "x" });
});

Deno.test("tokens of a compaction are counted as usage; tokens of a token count are not", async () => {
  const used = { input_tokens: 30, output_tokens: 4, total_tokens: 34 };
  await using upstream = startUpstream((exchange) =>
    exchange.json(200, {
      ...exchange.request.path.endsWith("compact")
        ? { object: "response.compaction", id: "cmp_1" }
        : { object: "response.input_tokens", input_tokens: 12 },
      usage: used,
    })
  );
  const flags = "{response_compaction: true, response_input_tokens: true}";
  await using gateway = serveGateway(oneProvider(upstream.url, `, capabilities: ${flags}`));
  for (const name of ["compact", "input_tokens"]) {
    const body = JSON.stringify({ model: "m", input: "Hi" });
    const url = `${gateway.url}/v1/responses/${name}`;
    assertEquals((await got(await fetch(url, { method: "POST", body }))).status, 200);
  }
  const { usage } = await gateway.reported(1);
  assertEquals([usage?.input, usage?.output, usage?.total], [30, 4, 34]);
  assertEquals((await gateway.reported(2)).usage, null);
});
