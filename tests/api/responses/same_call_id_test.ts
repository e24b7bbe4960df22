import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { answers } from "../../support/chat_call.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { scriptedWorld } from "../../support/world.ts";

const CALLS = ["f", "g"].map((name) => ({
  id: "a",
  type: "function",
  function: { name, arguments: "{}" },
}));

function completion(message: JsonObject, finish_reason: string): JsonObject {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason }];
  return { id: "c", object: "chat.completion", created: 1, model: "m", choices };
}

Deno.test("the results of two calls with the same ID are each sent to their own call", async () => {
  const completions = [
    completion({ content: null, tool_calls: CALLS }, "tool_calls"),
    completion({ content: "Done." }, "stop"),
  ];
  const sent: string[] = [];
  const world = scriptedWorld({
    async fetch(_url, init) {
      sent.push(await new Response(init.body ?? null).text());
      return await answers(200, completions.shift() ?? {});
    },
  });
  const { app } = testGateway(oneProvider("http://up.test"), world);
  const ask = async (body: JsonObject) => {
    const answer = await app(
      new Request("http://localhost/v1/responses", {
        method: "POST",
        headers: { host: "localhost" },
        body: JSON.stringify({ model: "m", ...body }),
      }),
    );
    return await answer.json();
  };
  const first = await ask({ input: "Hi" });
  const ids: string[] = first.output.map(({ call_id }: { call_id: string }) => call_id);
  assertEquals([ids.length, ids[0], new Set(ids).size], [2, "a", 2]);
  const second = await ask({
    previous_response_id: first.id,
    input: ids.map((call_id) => ({ type: "function_call_output", call_id, output: call_id })),
  });
  assertEquals(second.status, "completed");
  const asked = parseJson(sent[1] ?? "");
  assert(isObject(asked) && Array.isArray(asked.messages));
  const [, assistant, ...results] = asked.messages.filter(isObject);
  assert(Array.isArray(assistant?.tool_calls));
  assertEquals(assistant.tool_calls.filter(isObject).map(({ id }) => id), ids);
  assertEquals(results.map(({ tool_call_id, content }) => [tool_call_id, content]), [
    [ids[0], ids[0]],
    [ids[1], ids[1]],
  ]);
});
