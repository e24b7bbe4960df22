import type Anthropic from "@anthropic-ai/sdk";
import { isObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { startAnthropicSdk } from "./anthropic_sdk.ts";

const TOOLS: Anthropic.Tool[] = [{
  name: "weather",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
}];

/** The reasoning items in the input of a request to a Responses upstream. */
function reasoningIn(body: string) {
  const request = parseJson(body);
  assert(isObject(request) && Array.isArray(request.input));
  return request.input.filter(isObject).filter(({ type }) => type === "reasoning");
}

for (const isStreamed of [false, true]) {
  for (const drops of [false, true]) {
    const how = `${isStreamed ? "streams" : "creates"} messages${
      drops ? " and drops their thinking" : ""
    }`;

    Deno.test(`a tool loop of the Anthropic SDK over a Responses upstream keeps its reasoning item when it ${how}`, async () => {
      await using sdk = startAnthropicSdk("responses");
      const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Weather?" }];
      const body = { model: "sim-think-tools", max_tokens: 2_000, tools: TOOLS, messages };
      const ask = () =>
        isStreamed
          ? sdk.client.messages.stream(body).finalMessage()
          : sdk.client.messages.create(body);
      const first = await ask();
      const uses = first.content.filter((block) => block.type === "tool_use");
      assert(uses.length > 0);
      const content = first.content.filter((block) => !drops || block.type === "tool_use");
      messages.push({ role: "assistant", content }, {
        role: "user",
        content: uses.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "sunny" })),
      });
      const last = await ask();
      const texts = last.content.flatMap((block) => block.type === "text" ? [block.text] : []);
      assertEquals(texts, ['The tools said "sunny".']);
      const [item, ...others] = reasoningIn(sdk.sent.at(-1)?.body ?? "");
      assertEquals(others, []);
      assert(typeof item?.id === "string" && typeof item.encrypted_content === "string");
    });
  }
}
