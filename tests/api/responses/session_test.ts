import type { JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { testGateway } from "../../support/gateway.ts";
import { simulated } from "../../support/simulated.ts";
import { stateCalls, textAt } from "../../support/state_call.ts";
import { scriptedWorld } from "../../support/world.ts";

const PROVIDERS = ["a", "b", "c"];
const CONFIG = `
providers:
${
  PROVIDERS.map((id) =>
    `  ${id}: {type: compat, base_url: "http://${id}.test/compat/v1", api_key: k}\n`
  ).join("")
}
routing:
  routes:
    - name: main
      strategy: sticky
      targets: [${PROVIDERS.map((provider) => `{provider: ${provider}}`).join(", ")}]
`;

function stickyResponses() {
  const upstream = simulated();
  const gateway = testGateway(CONFIG, scriptedWorld(upstream));
  const calls = stateCalls(gateway.app);
  return {
    ...gateway,
    calls,
    async create(body: JsonObject): Promise<string> {
      const { status, json, text } = await calls.post("/responses", {
        model: "sim-echo",
        input: "Hi",
        ...body,
      });
      assertEquals(status, 200, text);
      return textAt(json, "id");
    },
  };
}

Deno.test("the turns of a stored conversation are one session, which keeps its target", async () => {
  const { calls, create, reports } = stickyResponses();
  const homes = new Set<unknown>();
  for (let n = 0; n < 12; n++) {
    const id = textAt((await calls.post("/conversations", {})).json, "id");
    const from = reports.length;
    await create({ conversation: id });
    await create({ conversation: { id } });
    const turns = reports.slice(from);
    assertEquals(turns.map(({ session, sessionFrom }) => [session, sessionFrom]), [
      [id, "conversation"],
      [id, "conversation"],
    ]);
    assertEquals(new Set(turns.map(({ provider }) => provider)).size, 1);
    homes.add(turns[0]?.provider);
  }
  assertEquals(homes.size, 3);
});

Deno.test("the turns that continue a stored response are one session, and another dialogue is another", async () => {
  const { create, reports } = stickyResponses();
  const sessions = [];
  for (let n = 0; n < 2; n++) {
    const first = await create({});
    const second = await create({ previous_response_id: first });
    await create({ previous_response_id: second });
    const [begin, ...turns] = reports.slice(-3);
    assertEquals([begin?.session, begin?.sessionFrom], [null, null], "nothing names it yet");
    const [session, ...others] = new Set(turns.map((turn) => turn.session));
    assertEquals(turns.map(({ sessionFrom }) => sessionFrom), [
      "previous_response_id",
      "previous_response_id",
    ]);
    assert(typeof session === "string" && others.length === 0);
    sessions.push(session);
  }
  assertEquals(new Set(sessions).size, 2);
});
