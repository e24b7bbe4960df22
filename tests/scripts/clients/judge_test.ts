import { newJudge } from "../../../scripts/clients/judge.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";

const judge = newJudge(() => Promise.resolve(new Response("served")));

async function judged(path: string, body: JsonObject): Promise<readonly [number, string]> {
  const request = { method: "POST", body: JSON.stringify(body) };
  const response = await judge(new Request(`http://sim${path}`, request));
  return [response.status, await response.text()];
}

const MESSAGES = [{ role: "user", content: "Hi" }];

Deno.test("an upstream of the matrix serves requests whose fields its protocol has", async () => {
  for (const path of ["/compat/v1/chat/completions", "/local/api/chat", "/messages/v1/messages"]) {
    assertEquals(await judged(path, { model: "m", messages: MESSAGES }), [200, "served"]);
  }
  const input = [{ role: "user", content: [{ type: "input_text", text: "Hi" }] }];
  assertEquals(await judged("/compat/v1/responses", { model: "m", input }), [200, "served"]);
});

Deno.test("an upstream of the matrix refuses a field that its protocol does not have, by its path", async () => {
  const wrong: readonly [path: string, body: JsonObject, field: string][] = [
    ["/local/api/chat", { model: "m", tool_choice: "auto" }, "tool_choice"],
    ["/local/api/chat", { messages: [{ role: "user", id: "1" }] }, "messages[].id"],
    ["/compat/v1/chat/completions", { input: "Hi" }, "input"],
    [
      "/compat/v1/responses",
      { input: [{ type: "message", tool_calls: [] }] },
      "input[].tool_calls",
    ],
  ];
  for (const [path, body, field] of wrong) {
    const error = { message: `Unknown field: ${field}.`, type: "invalid_request_error" };
    assertEquals(await judged(path, body), [400, JSON.stringify({ error })]);
  }
});
