import type { CallRecord } from "../../src/record/record.ts";
import { privacyConfig } from "../privacy/rules.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION } from "../support/chat_call.ts";
import { differencesIn, replayed } from "../support/replay.ts";
import { create } from "../support/socket_client.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { utf8Bytes } from "../../src/formats/utf8.ts";
import { streamOf } from "../support/pieces.ts";
import { saying, wordStreams } from "../support/word_stream.ts";
import { type Fetch, scriptedWorld } from "../support/world.ts";
import { recordingGateway, recordSection, withFolder } from "./support.ts";

const VALUE = "bob.miller@example.com";
const TOKEN = /qz[a-z]{16}email/;

const PLACE = `
providers: {up: {type: compat, base_url: "http://up", api_key: k}}
routing:
  routes:
    - {name: team, match: {headers: {x-team: blue}}, targets: [{provider: up}]}
    - {name: main, targets: [{provider: up}]}
retry: {enabled: false}
`;

const RULES = [
  "find: [email], action: replace",
  "words: [kingfisher], action: refuse",
  "words: [stranger], phase: response, action: refuse",
  "words: [team], action: monitor",
  "words: [Brücke], action: mask",
];

function configIn(folder: string): string {
  return recordSection(folder) + PLACE + privacyConfig(RULES);
}

const USER = [{ role: "user", content: `Mail ${VALUE} of the team` }];

/** Answers with the first token of the request and this text, whole or as a stream. */
function echoing(text = ""): Fetch {
  return async (_url, { body }) => {
    const sent = await new Response(body ?? "").text();
    const content = `${TOKEN.exec(sent)?.[0] ?? "nothing"} ${text}`;
    if (sent.includes('"stream":true')) {
      const stream = await (await saying(...content.split(/(?<= )/))).text();
      // Each event alone, so that the first ones are delivered before the last one is there.
      return new Response(streamOf(stream.split(/(?<=\n\n)/).map(utf8Bytes)));
    }
    const message = { role: "assistant", content };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    return await answers(200, { ...COMPLETION, choices });
  };
}

/** Returns a text as headers have it: each byte is one character. */
function inBytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

function assertNoValue(...parts: readonly unknown[]): void {
  const text = JSON.stringify(parts);
  assert(!text.includes("bob.miller") && !text.includes("kingfisher"));
}

for (const stream of [false, true]) {
  Deno.test(`a record has tokens in the request and in the ${stream ? "stream" : "response"}, and the client has values`, () =>
    withFolder(async (folder) => {
      const world = scriptedWorld({ fetch: echoing() });
      const { app, thread, reported, finish } = await recordingGateway(configIn(folder), world);
      const response = await app(chatRequest({ body: { messages: USER, stream } }));
      const redacted = response.headers.get("x-gateway-redacted");
      assert((await response.text()).includes(VALUE));
      await reported(1);
      const [record] = await finish();
      const { body, events } = record?.response ?? {};
      assertMatch(record?.request?.body ?? "", TOKEN);
      assertMatch((stream ? events : body) ?? "", TOKEN);
      assertEquals([record?.head.redacted, redacted], [{ r0: 1 }, "r0=1"]);
      assertNoValue(record, thread.requests);
    }));
}

Deno.test("values in headers, the query, the path, the session and the model are masked by the policy", () =>
  withFolder(async (folder) => {
    const world = scriptedWorld({ fetch: echoing() });
    const { app, thread, finish } = await recordingGateway(configIn(folder), world);
    const headers = {
      host: "localhost",
      "x-team": `team of kingfisher@example.com and ${VALUE}`,
      "x-gateway-note": inBytes("Grüße, Brücke"),
      "x-gateway-sessionid": VALUE,
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    };
    const url = `http://localhost/v1/chat/completions?a=1&user=${encodeURIComponent(VALUE)}&b=%2F`;
    const body = JSON.stringify({ model: "m", messages: USER });
    await (await app(new Request(url, { method: "POST", headers, body }))).body?.cancel();
    const list = new Request(`http://localhost/v1/models/${VALUE}`, { headers });
    await (await app(list)).body?.cancel();
    // Refused, because a model with a value would be sent as it is.
    const named = { ...headers, "x-gateway-model": `up/${VALUE}` };
    const refused = await app(new Request(url, { method: "POST", headers: named, body }));
    assertEquals(refused.status, 400);
    await refused.body?.cancel();
    const records = await finish();
    const [{ head, request } = {}] = records;
    assertEquals(request?.headers, {
      ...request?.headers,
      "x-team": "team of [email] and [email]",
      "x-gateway-note": inBytes("Grüße, [value]"),
      "x-gateway-sessionid": "[email]",
      traceparent: headers.traceparent,
    });
    assertEquals(request?.query, "a=1&user=%5Bemail%5D&b=%2F");
    assertEquals(head?.model_requested, "m");
    assertEquals(records[1]?.head.path, "/v1/models/[email]");
    assertEquals([records.length, records[2]?.request], [3, undefined]);
    assertNoValue(records, thread.requests);
  }));

Deno.test("a call that a rule has refused has its head alone, also if the answer was refused", () =>
  withFolder(async (folder) => {
    const world = scriptedWorld({ fetch: echoing(`${"word ".repeat(100)} a stranger.`) });
    const { app, thread, log, reported, finish } = await recordingGateway(
      configIn(folder),
      world,
    );
    const statuses: number[] = [];
    const refused = [{ role: "user", content: "a kingfisher" }];
    for (
      const body of [
        { messages: refused },
        { messages: USER },
        { messages: USER, stream: true },
      ]
    ) {
      const response = await app(chatRequest({ body }));
      statuses.push(response.status);
      await response.text();
    }
    await reported(3);
    const records = await finish();
    assertEquals(records.map(kindAndEnd), [
      ["heads", "refused", "privacy_rule_matched", { r1: 1 }],
      ["heads", "blocked", "response_refused", { r0: 1, r2: 1 }],
      ["heads", "blocked", "response_refused", { r0: 1, r2: 1 }],
    ]);
    assertEquals(statuses, [400, 400, 200]);
    assertEquals(log.filter((line) => line.includes('"recorded":"heads"')).length, 3);
    assertNoValue(records, thread.requests);
  }));

Deno.test("of a call that the gateway itself has refused the answer is recorded, whole", () =>
  withFolder(async (folder) => {
    const world = scriptedWorld({ fetch: echoing() });
    const { app, finish } = await recordingGateway(configIn(folder), world);
    const answer = await app(chatRequest({ body: { messages: USER, stream: "yes" } }));
    assertEquals(answer.status, 400);
    const text = await answer.text();
    const [record] = await finish();
    assertEquals([record?.response?.body, record?.head.cut], [text, []]);
    assertNoValue(record);
  }));

function kindAndEnd({ head, request, response }: CallRecord) {
  const kind = request === undefined && response === undefined ? "heads" : "all";
  return [kind, head.end, head.code, head.redacted];
}

Deno.test("a turn of a WebSocket is recorded with tokens, and a refused one as its head", () =>
  withFolder(async (folder) => {
    const text = configIn(folder);
    const { recorder, thread, finish } = await recordingGateway(text, scriptedWorld());
    await using served = socketGateway(text, {
      ...wordStreams(({ body }) => saying(TOKEN.exec(JSON.stringify(body))?.[0] ?? "nothing")),
      newCapture: recorder.newCapture,
    });
    {
      await using client = await served.open({ "x-team": VALUE });
      await client.turn(create({ input: "a kingfisher" }));
      assertEquals((await client.turn(create({ input: `I am ${VALUE}` }))).output, VALUE);
      await served.reported(3);
    }
    const records = await finish();
    assertEquals(records.map(kindAndEnd), [
      ["heads", "refused", "privacy_rule_matched", { r1: 1 }],
      ["all", "complete", null, { r0: 1 }],
    ]);
    assertMatch(records[1]?.request?.body ?? "", TOKEN);
    assertMatch(records[1]?.response?.events ?? "", TOKEN);
    assertEquals(records[1]?.request?.headers["x-team"], "[email]");
    assertNoValue(records, thread.requests);
  }));

Deno.test("a replay replaces no token again, so that the same rules make no difference", () =>
  withFolder(async (folder) => {
    const text = configIn(folder);
    const world = scriptedWorld({ fetch: echoing() });
    const { app, reported, finish } = await recordingGateway(text, world);
    for (const stream of [false, true]) {
      await (await app(chatRequest({ body: { messages: USER, stream } }))).text();
    }
    await reported(2);
    const records = await finish();
    for (
      const after of [text, PLACE, PLACE + privacyConfig(["pattern: 'qz[a-z]{5}', action: refuse"])]
    ) {
      const report = await replayed(records, text, after, { isExact: true });
      assertEquals([report.replayed, differencesIn(report)], [2, []]);
    }
    const refusing = PLACE + privacyConfig(["words: [mail], action: refuse"]);
    const report = await replayed(records, text, refusing);
    assertEquals(report.different, 2);
    assertMatch(differencesIn(report)[0] ?? "", /refused.*privacy_rule_matched/);
  }));
