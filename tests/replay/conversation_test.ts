import { parseJson } from "../../src/core/json/json.ts";
import type { CallRecord } from "../../src/record/record.ts";
import { newReplay } from "../../src/replay/replay_records.ts";
import { newDryGateway } from "../../src/replay/plan_record.ts";
import { recordingGateway, recordSection, withFolder } from "../record/support.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { parsedConfig } from "../support/parsed_config.ts";
import { differencesIn, replayed, startHere } from "../support/replay.ts";
import { simulated } from "../support/simulated.ts";
import { scriptedWorld } from "../support/world.ts";

const FILE = `
providers: {sim: {type: compat, base_url: "http://sim.test/compat/v1", default_model: sim-echo}}
routing: {routes: [{name: main, targets: [{provider: sim}]}]}
`;

/** Records of a dialogue in a conversation of the gateway, and what the provider received. */
interface Dialogue {
  readonly records: readonly CallRecord[];
  readonly sent: readonly unknown[];
}

/** Records three turns in a conversation that is created with this body. */
async function dialogue(created: object): Promise<Dialogue> {
  const upstream = simulated();
  const world = scriptedWorld({ fetch: upstream.fetch });
  let records: readonly CallRecord[] = [];
  await withFolder(async (folder) => {
    const gateway = await recordingGateway(recordSection(folder) + FILE, world);
    const post = async (path: string, body: object) => {
      const response = await gateway.app(
        new Request(`http://localhost${path}`, {
          method: "POST",
          headers: { host: "localhost" },
          body: JSON.stringify(body),
        }),
      );
      assertEquals(response.status, 200);
      return await response.text();
    };
    const { id } = JSON.parse(await post("/v1/conversations", created));
    const turns = [
      { input: "the first words" },
      { input: "the second words", stream: true, store: false },
      { input: "the third words", conversation: { id } },
    ];
    for (const turn of turns) {
      await world.advance(1_000);
      await post("/v1/responses", { model: "sim-echo", conversation: id, ...turn });
    }
    records = await gateway.finish();
  });
  return { records, sent: upstream.sent.map(({ body }) => body) };
}

Deno.test("turns of a conversation are replayed with the items that the records before have", async () => {
  const { records, sent } = await dialogue({});
  assertEquals(records.map(({ head }) => head.conversation_items), [null, 0, 2, 4]);
  const same = await replayed(records, FILE, FILE);
  assertEquals([same.replayed, same.different, [...same.skipped]], [3, 0, [["head_only", 1]]]);

  const moved = FILE.replace("name: main", "name: other");
  const report = await replayed(records, FILE, moved);
  assertEquals(differencesIn(report), ["route: main -> other"]);
  const parallel = await replayed(records, FILE, moved, { jobs: 3, start: startHere });
  assertEquals(differencesIn(parallel), differencesIn(report));

  const gateway = newDryGateway(parsedConfig(FILE), 1);
  const turns = records.slice(1);
  for (const [at, record] of turns.entries()) {
    const { request, response } = record;
    const { conversation } = JSON.parse(request?.body ?? "");
    assert(request !== undefined);
    const planned = await gateway.replay(record, request, conversation.id ?? conversation);
    assert(planned?.call.kind === "planned");
    assertEquals<unknown>(parseJson(planned.call.targets[0]?.body() ?? ""), sent[at]);
    const events = response?.events?.split("\n\n").map((text) => text.split("data: ")[1] ?? "");
    const terminal = events?.find((data) => data.includes('"type":"response.completed"'));
    const body = terminal === undefined ? response?.body ?? "" : terminal;
    await gateway.store(JSON.parse(body).response ?? JSON.parse(body));
  }
});

Deno.test("a conversation with items that no record of the set has is skipped", async () => {
  const { records } = await dialogue({});
  const [, first, second, third] = records;
  assert(first !== undefined && second !== undefined && third !== undefined);
  for (const [set, skipped] of [[[second, third], 2], [[first, third], 1]] as const) {
    const report = await replayed(set, FILE, FILE);
    assertEquals(report.skipped.get("conversation_not_recorded"), skipped);
    assertEquals(report.replayed, set.length - skipped);
  }
  const item = { type: "message", role: "user", content: "earlier words" };
  const begun = await dialogue({ items: [item] });
  const report = await replayed(begun.records, FILE, FILE);
  assertEquals(report.skipped.get("conversation_not_recorded"), 3);
});

Deno.test("a turn that the other file refuses is in the conversation of the one that does not", async () => {
  const { records } = await dialogue({});
  const settings = { seed: 1, isExact: false, continued: new Set<string>() };
  const other = FILE.replace("{provider: sim}", "{provider: sim, model: other}");
  const replay = newReplay({ before: parsedConfig(FILE), after: parsedConfig(other), ...settings });
  for (const record of records.slice(1)) {
    const result = await replay(JSON.stringify(record));
    assert(typeof result === "object", String(result));
    assertEquals(result.differences.map(({ kind }) => kind), ["refused"]);
  }
});
