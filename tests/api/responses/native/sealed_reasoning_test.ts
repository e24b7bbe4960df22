import { sealThinking } from "../../../../src/api/reasoning/sealed_thinking.ts";
import { assertEquals, assertStringIncludes } from "../../../support/assert.ts";
import { shortAnswer } from "../../../support/growth/spoken.ts";
import { nativeConfig, nativeGateway } from "../../../support/native_gateway.ts";
import { textAt } from "../../../support/state_call.ts";

const SEAL = sealThinking([{ type: "reasoning_text", text: "Hm." }]);
const ASKED = { role: "user", content: "Hi" };

function reasoning(id: string, encrypted_content: string) {
  return { type: "reasoning", id, summary: [], encrypted_content };
}

function gateway() {
  return nativeGateway(
    nativeConfig({ up: {} }),
    () => ({ body: shortAnswer("native", false).body }),
  );
}

Deno.test("a native target gets no reasoning that the gateway has sealed, which is named; the rest keeps its text", async () => {
  const { post, requests } = gateway();
  const call = '{ "type":"function_call", "call_id":"c","name":"f","arguments":"{}" }';
  const own = JSON.stringify(reasoning("rs_2", "gAAA"));
  const given = [JSON.stringify(ASKED), JSON.stringify(reasoning("rs_1", SEAL)), own, call];
  const reply = await post("/responses", `{"model":"m","store":false,"input":[${given.join()}]}`);
  assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, "input[1]"]);
  assertStringIncludes(requests[0]?.body ?? "", `"input":[${[given[0], own, call].join()}]`);
});

Deno.test("encrypted reasoning of others is sent as it came", async () => {
  const { post, requests } = gateway();
  const input = [ASKED, reasoning("rs_1", "gAAA"), reasoning("rs_2", "")];
  const reply = await post("/responses", { model: "m", input });
  assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, null]);
  assertEquals(requests[0]?.json.input, input);
});

Deno.test("a stored conversation is sent to a native target without sealed reasoning, by its field", async () => {
  const { post, requests } = gateway();
  const question = { type: "message", role: "user", content: [{ type: "input_text", text: "A" }] };
  const { json } = await post("/conversations", { items: [question, reasoning("rs_1", SEAL)] });
  const reply = await post("/responses", {
    model: "m",
    conversation: textAt(json, "id"),
    input: "B",
  });
  assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, "conversation"]);
  const { input } = requests[0]?.json ?? {};
  const types = Array.isArray(input) ? input.map((item) => Object(item).type) : [];
  assertEquals(types, ["message", "message"]);
});

Deno.test("an input is compacted and counted without sealed reasoning, which is named; the rest keeps its text", async () => {
  const body = '{"object":"response.compaction","id":"cmp_1","output":[]}';
  const count = '{"object":"response.input_tokens","input_tokens":1}';
  const { post, requests } = nativeGateway(
    nativeConfig({ up: { can: ["response_compaction", "response_input_tokens"] } }),
    ({ path }) => ({ body: path.endsWith("compact") ? body : count }),
  );
  const own = '{"type":"reasoning", "id":"rs_2","summary":[],"encrypted_content":"gAAA"}';
  const sealed = JSON.stringify(reasoning("rs_1", SEAL));
  for (const path of ["/responses/compact", "/responses/input_tokens"]) {
    for (
      const [given, lossy, sent] of [
        [[sealed, own, sealed], "input[0], input[2]", [own]],
        [[own], null, [own]],
        [[sealed], "input[0]", []],
      ] as const
    ) {
      const reply = await post(path, `{"model":"m", "input":[${given}],"x":1.0}`);
      assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, lossy]);
      assertEquals(requests.at(-1)?.body, `{"model":"m", "input":[${sent}],"x":1.0}`);
    }
  }
});
