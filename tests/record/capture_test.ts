import type { JsonObject } from "../../src/core/json/json.ts";
import { MAX_BODY_CHARS } from "../../src/record/capture.ts";
import { exportLine } from "../../src/record/export_record.ts";
import { parseRecord } from "../../src/record/record.ts";
import { privacyConfig } from "../privacy/rules.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, MESSAGES } from "../support/chat_call.ts";
import { keyOf } from "../support/client_keys.ts";
import { streamOf } from "../support/pieces.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { recordingGateway, recordSection, withFolder } from "./support.ts";

const PLACE = `
providers: {up: {type: compat, base_url: "http://up", api_key: sk-upstream-secret}}
routing:
  routes:
    - name: main
      match: {headers: {x-team: blue}}
      targets: [{provider: up}]
    - {name: rest, targets: [{provider: up}]}
retry: {enabled: false}
`;

const CHUNK =
  '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,' +
  '"delta":{"content":"Hi"},"finish_reason":null}]}';
const LAST = CHUNK.replace('{"content":"Hi"}', "{}").replace("null}", '"stop"}');
const STREAM = `data: ${CHUNK}\n\ndata: ${CHUNK}\n\ndata: ${LAST}\n\ndata: [DONE]\n\n`;

Deno.test("a whole response is recorded with its request as they were received and sent", () =>
  withFolder(async (folder) => {
    const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
    const { app, finish } = await recordingGateway(recordSection(folder) + PLACE, world);
    const request = chatRequest({ body: { n: 1, top_p: 0.10 } });
    const sent = await request.clone().text();
    const got = await (await app(request)).text();
    const [record] = await finish();
    assertEquals([record?.request?.body, record?.response?.body], [sent, got]);
    assertEquals(record?.response?.events, null);
    assertEquals(record?.head.attempts.map(({ provider, outcome }) => [provider, outcome]), [
      ["up", "success"],
    ]);
    assertEquals([record?.head.model_requested, record?.head.route], ["m", "rest"]);
    assertEquals(record?.response?.headers["x-gateway-provider"], "up");
    // An export has the same bytes from the file and from a gateway that runs, where it is parsed.
    assert(record !== undefined);
    const read = parseRecord(exportLine(record));
    assertEquals(read.ok && exportLine(read.record), exportLine(record));
  }));

Deno.test("a body that is no JSON is recorded as it was received, unless rules would have to look into it", () =>
  withFolder(async (folder) => {
    const text = recordSection(folder) + PLACE;
    const { app, finish } = await recordingGateway(text, scriptedWorld());
    const send = (body: string) =>
      new Request("http://gateway/v1/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json", "content-length": String(body.length) },
        body,
      });
    const broken = ['{"messages": [', '{"model": "m", "model": "n"}', '"text"'];
    for (const body of broken) assertEquals((await app(send(body))).status, 400);
    const records = await finish();
    assertEquals(records.map(({ request }) => request?.body), broken);
    assertEquals(records[0]?.head.code, "invalid_json");
    const rules = privacyConfig(["find: [email], action: replace"]);
    await Deno.remove(`${folder}/record.db`);
    const ruled = await recordingGateway(text + rules, scriptedWorld());
    assertEquals((await ruled.app(send('{"messages": ["a@example.com"'))).status, 400);
    const [record] = await ruled.finish();
    assertEquals([record?.head.code, record?.request], ["invalid_json", undefined]);
  }));

Deno.test("a stream is recorded with all of its events", () =>
  withFolder(async (folder) => {
    const world = scriptedWorld({ fetch: () => answers(200, STREAM) });
    const { app, finish } = await recordingGateway(recordSection(folder) + PLACE, world);
    const got = await (await app(chatRequest({ body: { stream: true } }))).text();
    const [record] = await finish();
    assertEquals([record?.response?.body, record?.response?.events], [null, got]);
    assertEquals([record?.head.stream, record?.head.finish], [true, "stop"]);
  }));

Deno.test("a client that leaves has a record of what it had", () =>
  withFolder(async (folder) => {
    const text = recordSection(folder) + PLACE;
    const { recorder, finish } = await recordingGateway(text, scriptedWorld());
    await using served = socketGateway(text, {
      fetch() {
        const first = new TextEncoder().encode(`data: ${CHUNK}\n\n`);
        const body = new ReadableStream({
          type: "bytes",
          start: (controller) => controller.enqueue(first),
        });
        return Promise.resolve(new Response(body, { status: 200 }));
      },
      newCapture: recorder.newCapture,
    });
    const leaving = new AbortController();
    const request = chatRequest({
      url: served.url,
      body: { stream: true },
      signal: leaving.signal,
    });
    const reader = (await fetch(request)).body?.getReader();
    await reader?.read();
    leaving.abort();
    await served.reported(1);
    const [record] = await finish();
    assertEquals(record?.head.end, "client_gone");
    assertEquals(record?.response?.events?.includes('"Hi"'), true);
  }));

Deno.test("bodies beyond their bound are cut at a character, and the record says so", () =>
  withFolder(async (folder) => {
    assertEquals(MAX_BODY_CHARS, 1_048_576);
    const long = "é😀".repeat(MAX_BODY_CHARS / 2);
    const message = { role: "assistant", content: long };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    const world = scriptedWorld({ fetch: () => answers(200, { ...COMPLETION, choices }) });
    const { app, finish } = await recordingGateway(recordSection(folder) + PLACE, world);
    const messages = [{ role: "user", content: long }];
    await (await app(chatRequest({ body: { messages } }))).body?.cancel();
    const [record] = await finish();
    assertEquals(record?.head.cut, ["request", "response"]);
    for (const text of [record?.request?.body, record?.response?.body]) {
      assert(text != null && text.length >= MAX_BODY_CHARS - 1 && text.length <= MAX_BODY_CHARS);
      assert(text.isWellFormed());
    }
  }));

Deno.test("a body that the labels of a short key have made too long is cut, and the record says so", () =>
  withFolder(async (folder) => {
    const key = "abcd1234";
    const content = `${key} `.repeat(MAX_BODY_CHARS / 10);
    const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
    const world = scriptedWorld({ fetch: () => answers(200, { ...COMPLETION, choices }) });
    const { app, finish } = await recordingGateway(
      `${recordSection(folder)}
security: {enabled: true, api_key: {keys: [{name: ada, value: ${key}}]}}
${PLACE}`,
      world,
    );
    const body = { messages: [{ role: "user", content }] };
    const headers = { authorization: `Bearer ${key}` };
    await (await app(chatRequest({ body, headers }))).body?.cancel();
    const [record] = await finish();
    assertEquals(record?.head.cut, ["request", "response"]);
    for (const text of [record?.request?.body, record?.response?.body]) {
      assert(text != null && text.length > MAX_BODY_CHARS - 100 && !text.includes(key));
    }
  }));

Deno.test("no credential, end user, cookie or address of a client is recorded, whatever a route matches on", () =>
  withFolder(async (folder) => {
    const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
    const { app, thread, finish } = await recordingGateway(
      `${recordSection(folder)}
security: {enabled: true, api_key: {header: X-Own-Key, prefix: "", keys: [{name: ada, value: key-of-ada, end_users: {header: X-User}}]}}
providers: {up: {type: compat, base_url: "http://up", api_key: sk-upstream-secret}}
routing:
  routes:
    - name: main
      match: {headers: {x-team: blue, cookie: marker-cookie, x-own-key: key-of-ada, x-user: marker-user}}
      targets: [{provider: up}]
`,
      world,
    );
    const headers = {
      "x-own-key": "key-of-ada",
      authorization: "Bearer marker-authorization",
      "x-api-key": "marker-x-api-key",
      cookie: "marker-cookie",
      "x-forwarded-for": "marker-address",
      "x-other": "marker-other",
      "x-user": "marker-user",
      "x-team": "blue",
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "x-gateway-sessionid": "build-42",
      "anthropic-version": "2023-06-01",
    };
    await (await app(chatRequest({ headers }))).body?.cancel();
    const [record] = await finish();
    const { "content-type": _, ...recorded } = record?.request?.headers ?? {};
    assertEquals(recorded, {
      "x-team": "blue",
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "x-gateway-sessionid": "build-42",
      "anthropic-version": "2023-06-01",
    });
    const sent = JSON.stringify(thread.requests);
    for (const secret of ["marker-", "key-of-ada", "sk-upstream-secret"]) {
      assert(!sent.includes(secret), secret);
    }
    assertEquals(record?.head.session, "build-42");
  }));

/** Its words are in no digest and in no ID. */
const OWN_KEY = 'own/key+of "mozart"=';

/** Requests with the key of their client at further places. */
const WITH_KEY: Readonly<
  Record<string, (url: string, body: JsonObject) => readonly [string, JsonObject]>
> = {
  "a parameter": (url, body) => [`${url}?who=${encodeURIComponent(OWN_KEY)}`, body],
  "a parameter that is not encoded": (
    url,
    body,
  ) => [`${url}?a=1&who=own/key+of%20%22mozart%22=`, body],
  "the name of a parameter": (url, body) => [`${url}?${encodeURIComponent(OWN_KEY)}`, body],
  "a text": (url, body) => [url, { ...body, user: `it is ${OWN_KEY}.` }],
  "a model": (url, body) => [url, { ...body, model: OWN_KEY }],
  "a session": (url, body) => [url, { ...body, prompt_cache_key: OWN_KEY }],
  "a path": (url) => [`${new URL(url).origin}/v1/models/${encodeURIComponent(OWN_KEY)}`, {}],
};

for (const header of ["authorization", "x-api-key"]) {
  for (const [place, put] of Object.entries(WITH_KEY)) {
    Deno.test(`a client key from the header ${header} is not recorded if ${place} has it too`, () =>
      withFolder(async (folder) => {
        const message = { role: "assistant", content: `You are ${OWN_KEY}` };
        const choices = [{ index: 0, message, finish_reason: "stop" }];
        const world = scriptedWorld({ fetch: () => answers(200, { ...COMPLETION, choices }) });
        const { app, thread, finish } = await recordingGateway(
          `${recordSection(folder, "calls: all, policy: none")}
security: {enabled: true, api_key: {keys: [{name: bob, value: '${OWN_KEY}'}]}}
${PLACE}`,
          world,
        );
        const [url, body] = put("http://localhost/v1/chat/completions", {
          model: "m",
          ...MESSAGES,
        });
        const isRead = Object.keys(body).length === 0;
        await (await app(
          new Request(url, {
            method: isRead ? "GET" : "POST",
            headers: {
              host: "localhost",
              [header]: header === "authorization" ? `Bearer ${OWN_KEY}` : OWN_KEY,
              "x-gateway-note": `by ${OWN_KEY}`,
            },
            body: isRead ? null : JSON.stringify(body).replaceAll("/", "\\/"),
          }),
        )).body?.cancel();
        const [record] = await finish();
        assertEquals(record?.head.key, "bob");
        const written = JSON.stringify([record, thread.requests.slice(1)]);
        for (const part of ["own/", "own\\", "own%2F", "mozart\\", "mozart%22", 'mozart"']) {
          assert(!written.includes(part), part);
        }
        assert(written.includes("client_key"));
      }));
  }
}

Deno.test("no part of a client key is at the end of a cut body, whatever was masked before", () =>
  withFolder(async (folder) => {
    const key = "0123456789abcdefghijklmnopqrstuvwxyz";
    const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
    const { app, finish } = await recordingGateway(
      `${recordSection(folder, "calls: all, policy: none")}
security: {enabled: true, api_key: {keys: [{name: ada, value: ${key}}]}}
${PLACE}`,
      world,
    );
    for (let shift = 0; shift < 8 * key.length; shift += 30) {
      const content = `${key.repeat(12)}${"-".repeat(MAX_BODY_CHARS - 490 + shift)}${key}`;
      const headers = { authorization: `Bearer ${key}` };
      await (await app(chatRequest({ headers, body: { messages: [{ role: "user", content }] } })))
        .body?.cancel();
    }
    const records = await finish();
    assert(records.length > 5);
    for (const { request } of records) {
      assert(request?.body?.includes("[client_key]") && !/[0-9a-z]{10}"?$/.test(request.body));
    }
  }));

Deno.test("no part of a credential is at the end of a cut body or name, whatever was masked before", () =>
  withFolder(async (folder) => {
    const key = `sk-${"a1B2".repeat(6)}`;
    const answer = (content: string) => {
      const choices = [{ index: 0, delta: { content }, finish_reason: null }];
      return { object: "chat.completion.chunk", id: "c", created: 1, model: "m", choices };
    };
    let shift = 0;
    const filled = (before: number) => "!".repeat(MAX_BODY_CHARS - before + shift);
    const world = scriptedWorld({
      fetch: () =>
        answers(
          200,
          [filled(420), key.slice(0, 9), key.slice(9), "x".repeat(100)].map((one) =>
            `data: ${JSON.stringify(answer(one))}\n\n`
          ).join("") + `data: ${LAST}\n\ndata: [DONE]\n\n`,
        ),
    });
    const { app, finish } = await recordingGateway(recordSection(folder) + PLACE, world);
    for (shift = 0; shift < 120; shift += 9) {
      const content = `${`${key} `.repeat(8)}${filled(1_400)} ${key} `;
      const model = `${"!".repeat(1_000 + shift % 25)}${key}`;
      const body = { model, stream: true, messages: [{ role: "user", content }] };
      await (await app(chatRequest({ body }))).text();
    }
    const records = await finish();
    assertEquals(records.length, 14);
    for (const { request, response, head } of records) {
      for (const text of [request?.body, response?.events, head.model_requested]) {
        const end = text?.slice(-100) ?? "";
        assert(text != null && text.length > 700 && !/sk-|a1B2/.test(end), end);
      }
      assert((head.model_requested ?? "").length <= 1_024);
    }
  }));

Deno.test("a client key that an answer repeats over several events is not recorded, whatever the policy", () =>
  withFolder(async (folder) => {
    const key = "0123456789abcdefghijklmnopqrstuvwxyz";
    for (const policy of ["none", "credentials"]) {
      const own = await Deno.makeTempDir({ dir: folder });
      const pieces = ["It is ", ...key.match(/.{5}/g) ?? [], "z."];
      const events = pieces.map((one) => CHUNK.replace('"Hi"', JSON.stringify(one)));
      const stream = [...events, LAST, "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
      const world = scriptedWorld({ fetch: () => answers(200, stream) });
      const { app, finish } = await recordingGateway(
        `${recordSection(own, `calls: all, policy: ${policy}`)}
security: {enabled: true, api_key: {keys: [{name: ada, value: ${key}}]}}
${PLACE}`,
        world,
      );
      const headers = { authorization: `Bearer ${key}` };
      const got = await (await app(chatRequest({ headers, body: { stream: true } }))).text();
      assert(got.includes("vwxy"));
      const [record] = await finish();
      const recorded = record?.response?.events ?? "";
      const texts = [...recorded.matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text);
      assertEquals(texts.join(""), "It is [client_key].");
    }
  }));

Deno.test("the largest counts of a provider are in a record that is read", () =>
  withFolder(async (folder) => {
    const count = 1_000_000_000;
    const usage = { prompt_tokens: count, completion_tokens: count };
    const world = scriptedWorld({ fetch: () => answers(200, { ...COMPLETION, usage }) });
    const { app, finish } = await recordingGateway(recordSection(folder) + PLACE, world);
    await (await app(chatRequest())).body?.cancel();
    const [record] = await finish();
    assertEquals(record?.head.usage?.total, 2 * count);
    assert(parseRecord(JSON.stringify(record)).ok);
  }));

Deno.test("a short client key is not recorded as a value, and a word that is like it stays", () =>
  withFolder(async (folder) => {
    const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
    const { app, finish } = await recordingGateway(
      `${recordSection(folder)}
security: {enabled: true, api_key: {keys: [{name: ada, value: team}]}}
${PLACE}`,
      world,
    );
    const request = new Request("http://localhost/v1/chat/completions?who=team&about=teams", {
      method: "POST",
      headers: { host: "localhost", authorization: "Bearer team", "x-gateway-note": "team" },
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "My team" }] }),
    });
    await (await app(request)).body?.cancel();
    const [record] = await finish();
    assertEquals(record?.request?.query, "who=%5Bclient_key%5D&about=teams");
    assertEquals(record?.request?.headers["x-gateway-note"], "[client_key]");
    assert(record?.request?.body?.includes("My team"));
  }));

Deno.test("the value of a parameter or a header of the gateway with the name of a credential is not recorded", () =>
  withFolder(async (folder) => {
    const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
    const text = recordSection(folder, "calls: all, policy: none") + PLACE;
    const { app, finish } = await recordingGateway(text, world);
    const query =
      "key=marker&api%5Fkey=marker&beta=true&access_token=marker&Subscription-Key=a=marker";
    const request = new Request(`http://localhost/v1/chat/completions?${query}`, {
      method: "POST",
      headers: { host: "localhost", "x-gateway-api-key": "marker", "x-gateway-note": "here" },
      body: JSON.stringify({ model: "m", ...MESSAGES }),
    });
    await (await app(request)).body?.cancel();
    const [record] = await finish();
    const masked = "%5Bcredential%5D";
    assertEquals(
      record?.request?.query,
      `key=${masked}&api%5Fkey=${masked}&beta=true&access_token=${masked}&Subscription-Key=${masked}`,
    );
    assertEquals(record?.request?.headers["x-gateway-note"], "here");
    assert(!JSON.stringify(record).includes("marker"));
  }));

Deno.test("an endpoint of vectors has the request alone, and lists of models have the head alone", () =>
  withFolder(async (folder) => {
    const world = scriptedWorld({
      fetch: () =>
        answers(200, {
          object: "list",
          model: "e",
          data: [{ object: "embedding", index: 0, embedding: [1] }],
          usage: { prompt_tokens: 1, total_tokens: 1 },
        }),
    });
    const { app, finish } = await recordingGateway(recordSection(folder) + PLACE, world);
    const body = JSON.stringify({ model: "e", input: "text" });
    const post = { method: "POST", headers: { host: "localhost" }, body };
    await (await app(new Request("http://localhost/v1/embeddings", post))).body?.cancel();
    const list = new Request("http://localhost/v1/models", { headers: { host: "localhost" } });
    await (await app(list)).body?.cancel();
    const records = await finish();
    assertEquals(
      records.map(({ head, request, response }) => [
        head.path,
        request?.body,
        response?.body ?? null,
        head.cut,
      ]),
      [
        ["/v1/embeddings", body, null, ["response"]],
        ["/v1/models", undefined, null, []],
      ],
    );
  }));

Deno.test("health, metrics and unknown paths have no record", () =>
  withFolder(async (folder) => {
    const { app, finish } = await recordingGateway(recordSection(folder) + PLACE, scriptedWorld());
    for (const path of ["/health", "/ready", "/metrics", "/v1/nothing"]) {
      const headers = { host: "localhost", ...keyOf("ada") };
      await (await app(new Request(`http://localhost${path}`, { headers }))).body?.cancel();
    }
    assertEquals(await finish(), []);
  }));

Deno.test("the query of a request is recorded", () =>
  withFolder(async (folder) => {
    const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
    const { app, finish } = await recordingGateway(recordSection(folder) + PLACE, world);
    const request = new Request("http://localhost/v1/chat/completions?beta=true", {
      method: "POST",
      headers: { host: "localhost" },
      body: streamOf([
        new TextEncoder().encode('{"model":"m","messages":[{"role":"user","content":"a"}]}'),
      ]),
    });
    await (await app(request)).body?.cancel();
    const [record] = await finish();
    assertEquals(record?.request?.query, "beta=true");
  }));
