import { assert, assertEquals } from "../support/assert.ts";
import { oneProvider } from "../support/gateway.ts";
import { streamOf } from "../support/pieces.ts";
import { create, type SocketClient } from "../support/socket_client.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { until } from "../support/valkey_server.ts";
import { saying, wordStreams } from "../support/word_stream.ts";
import { privacyConfig } from "../privacy/rules.ts";

const VALUE = "bob.miller@example.com";
const TOKENS = /qz(?:[a-z]{2}){8}email/g;
const UP = oneProvider("http://up.test");
const RULES = privacyConfig(["find: [email], action: replace"]);

/** A provider that writes the tokens that `say` returns, each cut in three. */
function repeating(say: (own: readonly string[], count: number) => readonly string[]) {
  return wordStreams(({ body }, count) => {
    const own = JSON.stringify(body).match(TOKENS) ?? [];
    const words = say([...new Set(own)], count).flatMap((token) => [
      `to ${token.slice(0, 5)}`,
      token.slice(5, 20),
      `${token.slice(20)}; `,
    ]);
    return saying(...words);
  });
}

/** Returns the text of the deltas of a turn. */
async function streamed(client: SocketClient, message: Parameters<SocketClient["turn"]>[0]) {
  const turn = await client.turn(message);
  const deltas = turn.events.filter(({ type }) => type === "response.output_text.delta");
  const text = deltas.map(({ delta }) => String(delta)).join("");
  assertEquals(text, turn.output, JSON.stringify(turn.end));
  return turn;
}

for (const store of [false, true]) {
  Deno.test(`turns of a WebSocket that continue each other send tokens and restore values of the whole dialogue (store: ${store})`, async () => {
    const upstream = repeating((own) => own);
    await using served = socketGateway(UP + RULES, upstream);
    await using client = await served.open();
    const first = await streamed(client, create({ input: `I am ${VALUE}`, store }));
    assertEquals(first.output, `to ${VALUE}; `);
    let id = first.id;
    for (let turn = 0; turn < 3; turn++) {
      const other = `x${turn}@example.org`;
      const next = create({ input: `and ${other}`, store, previous_response_id: id });
      const { output, id: own } = await streamed(client, next);
      assert(output.startsWith(`to ${VALUE}; `) && output.includes(`to ${other}; `), output);
      id = own;
    }
    const bodies = upstream.sent.map(({ body }) => JSON.stringify(body));
    assert(bodies.every((text) => !/bob\.miller|@example/.test(text)), bodies.join("\n"));
    // The value has one token in all turns, in the requests and in the answers.
    const [token = ""] = bodies[0]?.match(TOKENS) ?? [];
    assertEquals(bodies.map((text) => text.split(token).length - 1), [1, 2, 3, 4]);
  });
}

Deno.test("what rules have replaced in a message, and in what it continues, counts in server.max_body_memory too", async () => {
  const upstream = repeating((own) => own);
  const limit = "server: {max_body_memory: 50000}\n";
  await using served = socketGateway(UP + RULES + limit, upstream);
  await using client = await served.open();
  const long = (chars: number) => `${VALUE} ${"x ".repeat(chars / 2)}`;
  // The client may have the last event of a turn before its memory is free.
  const isOver = () => until(() => served.gateway.state.admission.count() === 0);
  const plain = await client.turn(create({ input: "x ".repeat(13_000), store: false }));
  await isOver();
  assertEquals(plain.end.type, "response.completed");
  const refused = await client.turn(create({ input: long(26_000), store: false }));
  assertEquals([refused.end.type, refused.end.code], ["error", "overloaded"]);
  await isOver();
  const first = await streamed(client, create({ input: long(13_000) }));
  await isOver();
  const next = create({ input: "x ".repeat(12_500), previous_response_id: first.id });
  const continued = await client.turn(next);
  assertEquals([continued.end.type, continued.end.code], ["error", "overloaded"]);
  assertEquals(upstream.sent.length, 2);
});

Deno.test("a turn of a WebSocket restores no value of another turn that it does not continue", async () => {
  let token = "";
  const upstream = repeating((own) => [token ||= own[0] ?? ""]);
  await using served = socketGateway(UP + RULES, upstream);
  await using client = await served.open();
  const first = await streamed(client, create({ input: `I am ${VALUE}`, store: false }));
  assertEquals(first.output, `to ${VALUE}; `);
  for (const input of ["Who?", "ada@example.org"]) {
    const { output } = await streamed(client, create({ input, store: false }));
    assertEquals(output, `to ${token}; `);
  }
  // A stream to a request without values is not looked at.
  const counts = served.reports.map(({ privacy }) => privacy?.unknown);
  assertEquals(counts.filter((count) => count === 1).length, 1);
});

Deno.test("a native turn of a WebSocket restores what it continues, and only for its client", async () => {
  let token = "";
  let count = 0;
  const upstream = wordStreams(({ body }) => {
    token ||= JSON.stringify(body).match(TOKENS)?.[0] ?? "";
    const part = { type: "output_text", text: `to ${token}`, annotations: [] };
    const item = {
      id: `msg_${count}`,
      type: "message",
      role: "assistant",
      status: "completed",
      content: [part],
    };
    const response = {
      id: `resp_${count++}`,
      object: "response",
      created_at: 1,
      model: "m",
      status: "in_progress",
      output: [],
    };
    const at = { item_id: item.id, output_index: 0, content_index: 0 };
    const events = [
      { type: "response.created", response },
      { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
      { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
      { type: "response.output_text.delta", ...at, delta: part.text.slice(0, 9) },
      { type: "response.output_text.delta", ...at, delta: part.text.slice(9) },
      { type: "response.output_text.done", ...at, text: part.text },
      { type: "response.content_part.done", ...at, part },
      { type: "response.output_item.done", output_index: 0, item },
      {
        type: "response.completed",
        response: { ...response, status: "completed", output: [item] },
      },
    ];
    const text = events.map((event, sequence_number) =>
      `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`
    ).join("");
    return Promise.resolve(
      new Response(streamOf([new TextEncoder().encode(text)]), {
        headers: { "content-type": "text/event-stream" },
      }),
    );
  });
  const config = `
providers:
  up: {type: compat, base_url: "http://up.test", api_key: sk-x, capabilities: {responses_lifecycle: true}}
routing: {routes: [{name: main, targets: [{provider: up, upstream_request_type: responses}]}]}
${RULES}`;
  await using served = socketGateway(config, upstream);
  await using client = await served.open();
  const first = await streamed(client, create({ input: `I am ${VALUE}`, store: true }));
  assertEquals(first.output, `to ${VALUE}`, JSON.stringify(first.end));
  const next = create({ input: "Who?", store: true, previous_response_id: first.id });
  assertEquals((await streamed(client, next)).output, `to ${VALUE}`);
  assertEquals(
    (await streamed(client, create({ input: "Who?", store: true }))).output,
    `to ${token}`,
  );
});
