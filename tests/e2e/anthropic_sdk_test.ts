import Anthropic from "@anthropic-ai/sdk";
import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { startAnthropicSdk, TRANSLATED } from "./anthropic_sdk.ts";
import { errorOf } from "./sdk.ts";

type Message = Anthropic.Message;
type Param = Anthropic.MessageParam;

const QUESTION: Param = { role: "user", content: "good day" };

function textOf({ content }: Message): string {
  return content.map((block) => block.type === "text" ? block.text : "").join("");
}

function tool(name: string): Anthropic.Tool {
  return {
    name,
    description: "Weather.",
    input_schema: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
    },
  };
}

const TOOLS = [tool("weather"), tool("forecast")];

/** The results of every call of a message, in one user message. */
function resultsOf({ content }: Message): Param {
  const calls = content.filter((block) => block.type === "tool_use");
  return {
    role: "user",
    content: calls.map(({ id }, at) => ({
      type: "tool_result",
      tool_use_id: id,
      content: `result ${at}`,
    })),
  };
}

for (const target of TRANSLATED) {
  Deno.test(`the Messages SDK carries thinking from turn to turn, shown or only sealed, over ${target}`, async () => {
    await using sdk = startAnthropicSdk(target);
    const { messages } = sdk.client;
    for (const display of ["summarized", "omitted"] as const) {
      const body = {
        model: "sim-think-tools",
        max_tokens: 4096,
        tools: TOOLS,
        thinking: { type: "adaptive" as const, display },
        output_config: { effort: "low" as const },
      };
      const first = await messages.create({ ...body, messages: [QUESTION] });
      const [thinking] = first.content;
      assert(thinking?.type === "thinking", JSON.stringify(first.content));
      assertEquals(thinking.thinking === "", display === "omitted");
      assertMatch(thinking.signature, /^switchyard1\./);
      const turn: Param = { role: "assistant", content: first.content };
      const streamed = messages.stream({ ...body, messages: [QUESTION, turn, resultsOf(first)] });
      const second = await streamed.finalMessage();
      assert(textOf(second).includes("The tools said"), textOf(second));
    }
  });

  Deno.test(`a client of the Messages SDK that aborts ends its call over ${target}`, async () => {
    await using sdk = startAnthropicSdk(target);
    const body = { model: "sim-slow", max_tokens: 1000, messages: [QUESTION] };
    const stream = sdk.client.messages.stream(body);
    const ended = errorOf(stream.finalMessage());
    stream.on("text", () => stream.abort());
    assert(await ended instanceof Anthropic.APIUserAbortError);
    assertEquals(endOf(await sdk.gateway.reported(1)), "client_gone");
  });
}
