import { assertEquals } from "../support/assert.ts";
import { newDryGateway } from "../../src/replay/plan_record.ts";
import { newReplay } from "../../src/replay/replay_records.ts";
import type { CallRecord } from "../../src/record/record.ts";
import { parsedConfig } from "../support/parsed_config.ts";
import { differencesIn, recordOf, replayed } from "../support/replay.ts";

const BASE = `
providers:
  claude: {type: messages, base_url: "https://api.anthropic.com", api_key: sk-2, default_model: claude-x}
  openai: {type: compat, base_url: "https://api.openai.com/v1", api_key: sk-1, default_model: gpt-4o}
routing:
  routes:
    - name: main
      targets: [{provider: claude}]
`;

const FIRST_RESPONSE = {
  id: "resp_first",
  object: "response",
  status: "completed",
  output: [{
    id: "msg_1",
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "The capital is Lima.", annotations: [] }],
  }],
};

/** Returns the first turn of a dialogue, with its response as a body or as a stream. */
function firstTurn(response: NonNullable<CallRecord["response"]>): CallRecord {
  return {
    ...recordOf("/v1/responses", { model: "auto", input: "What is the capital of Peru?" }),
    id: "call-1",
    at: "2026-11-23T14:02:11.000Z",
    response,
  };
}

const WHOLE = firstTurn({ headers: {}, body: JSON.stringify(FIRST_RESPONSE), events: null });

const STREAM = firstTurn({
  headers: {},
  body: null,
  events: [
    `event: response.created\ndata: ${
      JSON.stringify({ type: "response.created", response: { id: "resp_first", output: [] } })
    }`,
    `event: response.completed\ndata: ${
      JSON.stringify({ type: "response.completed", response: FIRST_RESPONSE })
    }`,
    "",
  ].join("\n\n"),
});

const SECOND: CallRecord = {
  ...recordOf("/v1/responses", {
    model: "auto",
    input: "And of Chile?",
    previous_response_id: "resp_first",
  }, { previous: { response: "resp_first", record: null } }),
  id: "call-2",
  at: "2026-11-23T14:03:11.000Z",
};

for (const [kind, first] of [["whole response", WHOLE], ["stream", STREAM]] as const) {
  Deno.test(`a request that continues a ${kind} of the set is replayed with the items before it`, async () => {
    const report = await replayed(
      [SECOND, first],
      BASE,
      BASE.replace(
        "targets: [{provider: claude}]",
        "targets: [{provider: claude, model: claude-y}]",
      ),
    );
    assertEquals([report.replayed, report.different], [2, 2]);
    assertEquals(differencesIn(report).slice(0, 1), ["model: claude/claude-x -> claude/claude-y"]);
  });
}

Deno.test("the request to the provider has the earlier turn, from the chain of the set", async () => {
  const gateway = newDryGateway(parsedConfig(BASE), 1);
  const [first, second] = [WHOLE.request, SECOND.request];
  if (first === undefined || second === undefined) throw new Error("no requests");
  await gateway.replay(WHOLE, first);
  await gateway.store(FIRST_RESPONSE);
  const call = (await gateway.replay(SECOND, second))?.call;
  if (call?.kind !== "planned") throw new Error("refused");
  const body = JSON.parse(call.targets[0]?.body() ?? "{}");
  assertEquals(body.messages.map(({ role }: { role: string }) => role), [
    "user",
    "assistant",
    "user",
  ]);
});

Deno.test("a turn over a WebSocket is replayed as the request of its message", async () => {
  const turn = recordOf("/v1/responses", { type: "response.create", model: "auto", input: "Hi." }, {
    head: { method: "GET" },
  });
  const report = await replayed([turn], BASE, BASE.replace("name: main", "name: other"));
  assertEquals(differencesIn(report), ["route: main -> other"]);
});

Deno.test("without the link of the chain the request is skipped", async () => {
  const { response: _, ...withoutResponse } = WHOLE;
  const report = await replayed([withoutResponse, SECOND], BASE, BASE);
  assertEquals([report.replayed, report.skipped.get("previous_not_recorded")], [1, 1]);
});

Deno.test("a set has as many continued responses as it has, however few its files store", async () => {
  const other = (one: CallRecord): CallRecord =>
    JSON.parse(
      JSON.stringify({ ...one, id: `${one.id}-other` }).replaceAll("resp_first", "resp_2"),
    );
  const set = [WHOLE, other(WHOLE), SECOND, other(SECOND)];
  const report = await replayed(set, BASE, `${BASE}state: {max_entries: 1, max_bytes: 1}\n`);
  assertEquals([report.replayed, report.different, report.skipped.size], [4, 0, 0]);
  const small = `${BASE}state: {max_entries: 1}\n`;
  assertEquals((await replayed(set, small, small)).replayed, 4);
});

/** A turn over a WebSocket whose response its socket holds, and the next one of the same socket. */
function heldTurns(store: boolean): readonly CallRecord[] {
  const turn = (members: Readonly<Record<string, unknown>>) =>
    recordOf("/v1/responses", { model: "auto", store, stream: true, ...members }, {
      head: { method: "GET" },
    });
  const { response } = STREAM;
  if (response === undefined) throw new Error("no response");
  return [
    { ...turn({ input: "What is the capital of Peru?" }), id: "call-1", response },
    {
      ...turn({ input: "And of Chile?", previous_response_id: "resp_first" }),
      id: "call-2",
      at: "2026-11-23T14:03:11.000Z",
      previous: { response: "resp_first", record: null },
    },
  ];
}

for (const store of [true, false]) {
  Deno.test(`a turn that continues one on its socket with store: ${store} is compared`, async () => {
    const report = await replayed(
      heldTurns(store),
      BASE,
      BASE.replace("name: main", "name: other"),
    );
    assertEquals([report.replayed, report.different, [...report.skipped]], [2, 2, []]);
    assertEquals(differencesIn(report), ["route: main -> other"]);
  });
}

Deno.test("a turn that continues one on its socket is compared by the request to its model", async () => {
  const replay = newReplay({
    before: parsedConfig(BASE),
    after: parsedConfig(BASE.replace("claude-x", "claude-y")),
    seed: 1,
    isExact: false,
    continued: new Set(["resp_first"]),
  });
  const results = [];
  for (const turn of heldTurns(false)) results.push(await replay(JSON.stringify(turn)));
  assertEquals(
    results.map((one) => typeof one === "string" ? one : one.differences.map(({ kind }) => kind)),
    [["model", "request"], ["model", "request"]],
  );
});

Deno.test("a response that neither gateway has stored makes the next turn skipped, not equal", async () => {
  // Over HTTP nothing holds a response that is not stored.
  const turns = heldTurns(false).map((one) => ({ ...one, head: { ...one.head, method: "POST" } }));
  const report = await replayed(turns, BASE, BASE.replace("name: main", "name: other"));
  assertEquals([report.replayed, report.skipped.get("previous_not_recorded")], [1, 1]);
});

Deno.test("a served call that both files refuse alike, as one that names an item of no record, is not the same but skipped", async () => {
  const body = {
    model: "auto",
    input: [{ type: "item_reference", id: "msg_of_another" }, { role: "user", content: "And?" }],
  };
  const report = await replayed([recordOf("/v1/responses", body)], BASE, BASE);
  assertEquals([report.replayed, [...report.skipped]], [0, [["refused_by_both", 1]]]);
  const cached = recordOf("/v1/responses", body, { head: { attempts: [], cache: "HIT" } });
  assertEquals((await replayed([cached], BASE, BASE)).replayed, 0);
  const refused = recordOf("/v1/responses", body, { head: { attempts: [], status: 400 } });
  assertEquals((await replayed([refused], BASE, BASE)).replayed, 1);
});
