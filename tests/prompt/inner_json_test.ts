import { newInnerItems } from "../../src/prompt/inner_json.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { answers, chatRequest, got, verdictOf } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

/** Returns the text of an object with this total number of members and elements. */
function textOf(items: number): string {
  return `{"a":[${"1,".repeat(items - 2)}1]}`;
}

function calling(...texts: readonly string[]) {
  const tool_calls = texts.map((text, index) => ({
    id: `c${index}`,
    type: "function",
    function: { name: "f", arguments: text },
  }));
  const results = tool_calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "4" }));
  return [
    { role: "user", content: "Hi" },
    { role: "assistant", content: null, tool_calls },
    ...results,
  ];
}

function configOf(type: string): string {
  return `
providers:
  p: {type: ${type}, base_url: "http://up.test", api_key: k}
routing:
  routes: [{name: main, targets: [{provider: p}]}]
retry: {enabled: false}
`;
}

async function post(type: string, path: string, body: unknown) {
  let sent = 0;
  const world = scriptedWorld({
    fetch() {
      sent++;
      return answers(200, {});
    },
  });
  const { app } = testGateway(configOf(type), world);
  const { origin } = new URL(chatRequest().url);
  const request = new Request(origin + path, { method: "POST", body: JSON.stringify(body) });
  const answer = await got(await app(request));
  return { answer, sent };
}

Deno.test("members and elements of all JSON texts are counted together", () => {
  const items = newInnerItems();
  assert(items.admits(textOf(200_000 - 2)));
  assert(items.admits("{}"));
  assert(items.admits(textOf(2)));
  assert(!items.admits("[1]"));
  assert(!items.admits("{}"), "what is beyond the limit stays there");
});

for (const type of ["messages", "local"]) {
  Deno.test(`arguments with more members than a body may have are not parsed for a ${type} provider`, async () => {
    const texts = [textOf(200_000), textOf(2)];
    const chat = await post(type, "/v1/chat/completions", {
      model: "m",
      messages: calling(...texts),
    });
    const input = [
      { role: "user", content: "Hi" },
      ...texts.flatMap((text, index) => [
        { type: "function_call", call_id: `c${index}`, name: "f", arguments: text },
        { type: "function_call_output", call_id: `c${index}`, output: "4" },
      ]),
    ];
    const responses = await post(type, "/v1/responses", { model: "m", input });
    const legacy = await post(type, "/v1/chat/completions", {
      model: "m",
      messages: [
        ...calling(textOf(200_000)),
        { role: "assistant", function_call: { name: "f", arguments: textOf(2) } },
        { role: "function", name: "f", content: "4" },
      ],
    });
    for (const { answer, sent } of [chat, responses, legacy]) {
      assertEquals(verdictOf(answer), [413, "invalid_request_error", "request_too_large"]);
      assertStringIncludes(answer.text, String(200_000));
      assertEquals(sent, 0);
    }
    assertEquals(chat.answer.error.param, "messages[1].tool_calls[1].function.arguments");
    assertEquals(responses.answer.error.param, "input[3].arguments");
    assertEquals(legacy.answer.error.param, "messages[3].function_call.arguments");
  });
}
