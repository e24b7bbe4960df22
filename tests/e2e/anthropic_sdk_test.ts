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
  Deno.test(`the Messages SDK gets a whole message and a stream with the same text over ${target}`, async () => {
    await using sdk = startAnthropicSdk(target);
    const { messages } = sdk.client;
    const body = { model: "sim-echo", max_tokens: 1000, messages: [QUESTION], system: "Be brief." };
    const whole = await messages.create(body);
    const streamed = await messages.stream(body).finalMessage();
    assert(textOf(whole).includes("good day"), textOf(whole));
    assertEquals(textOf(streamed), textOf(whole));
    for (const { id, stop_reason, usage } of [whole, streamed]) {
      assertMatch(id, /^msg_[0-9a-f]{32}$/);
      assertEquals(stop_reason, "end_turn");
      assert(usage.input_tokens > 0 && usage.output_tokens > 0, JSON.stringify(usage));
    }
    assert(whole.id !== streamed.id);
    assertMatch(whole._request_id ?? "", /^[0-9a-f-]{36}$/);
  });

  for (const [model, calls] of [["sim-tools", 1], ["sim-parallel", 2]] as const) {
    Deno.test(`the Messages SDK loops through ${calls} tools over ${target}`, async () => {
      await using sdk = startAnthropicSdk(target);
      const { messages } = sdk.client;
      for (const isStreamed of [false, true]) {
        const ask = async (dialogue: Param[]) => {
          const body = { model, max_tokens: 1000, tools: TOOLS, messages: dialogue };
          return isStreamed
            ? await messages.stream(body).finalMessage()
            : await messages.create(body);
        };
        const first = await ask([QUESTION]);
        assertEquals(first.stop_reason, "tool_use");
        const names = first.content.flatMap((block) =>
          block.type === "tool_use" ? [block.name] : []
        );
        assertEquals(names, ["weather", "forecast"].slice(0, calls));
        const turn: Param = { role: "assistant", content: first.content };
        const second = await ask([QUESTION, turn, resultsOf(first)]);
        const quoted = names.map((_name, at) => `"result ${at}"`).join(" and ");
        assertEquals(textOf(second), `The tools said ${quoted}.`);
      }
    });
  }

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

  Deno.test(`the Messages SDK throws its own errors for refusals and failures over ${target}`, async () => {
    await using sdk = startAnthropicSdk(target);
    const { messages } = sdk.client;
    const body = { max_tokens: 1000, messages: [QUESTION] };
    const refused = await errorOf(
      messages.create({ ...body, model: "sim-echo", output_config: { effort: "max" } }),
    );
    assert(refused instanceof Anthropic.BadRequestError);
    assertMatch(refused.message, /This model does not support the effort parameter\./);
    assertEquals(refused.type, "invalid_request_error");
    const throttled = await errorOf(messages.create({ ...body, model: "sim-error-429" }));
    assert(throttled instanceof Anthropic.RateLimitError, String(throttled));
    const failed = await errorOf(messages.create({ ...body, model: "sim-error-500" }));
    assert(failed instanceof Anthropic.InternalServerError, String(failed));
  });

  Deno.test(`a stream that breaks off is an error of the Messages SDK, never a silent end, over ${target}`, async () => {
    await using sdk = startAnthropicSdk(target);
    for (const model of ["sim-broken-stream", "sim-broken-json"]) {
      const stream = sdk.client.messages.stream({ model, max_tokens: 1000, messages: [QUESTION] });
      const error = await errorOf(stream.finalMessage());
      assert(error instanceof Anthropic.APIError, String(error));
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
