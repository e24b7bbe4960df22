import type OpenAI from "openai";
import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { startSdk, WIRES } from "./sdk.ts";

const messages = [{ role: "user", content: "good day to you" }] as const;

function tool(name: string): OpenAI.ChatCompletionTool {
  const properties = { city: { type: "string" }, days: { type: "integer" } };
  const parameters = { type: "object", properties, required: ["city", "days"] };
  return { type: "function", function: { name, description: "Weather.", parameters } };
}

for (const wire of WIRES) {
  Deno.test(`the SDK gets a completion over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const completion = await sdk.client.chat.completions.create({
      model: "sim-echo",
      messages: [...messages],
    });
    const [choice] = completion.choices;
    assertEquals(choice?.message.content, "good day to you");
    assertEquals(choice?.finish_reason, "stop");
    assertEquals(completion.object, "chat.completion");
    assertEquals(completion.usage?.completion_tokens, 4);
    assertEquals(
      completion.usage?.total_tokens,
      (completion.usage?.prompt_tokens ?? 0) + 4,
    );
  });

  Deno.test(`the SDK streams over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const stream = await sdk.client.chat.completions.create({
      model: "sim-long-50",
      messages: [...messages],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    assertMatch(text, /^word1 word2 .* word50$/);
    assertEquals(new Set(chunks.map(({ id }) => id)).size, 1);
    assertEquals(chunks.filter(({ usage }) => (usage ?? null) !== null).length, 1);
    assertEquals(chunks.at(-1)?.choices, []);
    assertEquals(chunks.at(-1)?.usage?.completion_tokens, 50);
    assertEquals(chunks.at(-2)?.choices[0]?.finish_reason, "stop");
  });

  Deno.test(`the SDK's stream helper understands the stream over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const runner = sdk.client.chat.completions.stream({
      model: "sim-echo",
      messages: [...messages],
      stream_options: { include_usage: true },
    });
    const pieces: string[] = [];
    runner.on("content", (delta) => void pieces.push(delta));
    const completion = await runner.finalChatCompletion();
    assertEquals(completion.choices[0]?.message.content, "good day to you");
    assertEquals(completion.choices[0]?.finish_reason, "stop");
    assertEquals(pieces.join(""), "good day to you");
    assertEquals((await runner.totalUsage()).completion_tokens, 4);
  });

  Deno.test(`the SDK calls tools and hands their results back over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    for (const model of ["sim-tools", "sim-parallel"]) {
      for (const isStreamed of [false, true]) {
        const tools = [tool("weather"), tool("forecast")];
        const first = { model, messages: [...messages], tools };
        const { completions } = sdk.client.chat;
        const answer = isStreamed
          ? await completions.stream(first).finalChatCompletion()
          : await completions.create(first);
        const message = answer.choices[0]?.message;
        assert(message !== undefined);
        assertEquals(answer.choices[0]?.finish_reason, "tool_calls");
        const calls = (message.tool_calls ?? []).filter((call) => call.type === "function");
        const names = model === "sim-parallel" ? ["weather", "forecast"] : ["weather"];
        assertEquals(calls.map((call) => call.function.name), names);
        assertEquals(new Set(calls.map(({ id }) => id)).size, names.length);
        for (const call of calls) {
          assertEquals<unknown>(JSON.parse(call.function.arguments), { city: "text", days: 1 });
        }

        const { role, content = null, tool_calls: toolCalls = [] } = message;
        const results = calls.map(({ id }, at) => ({
          role: "tool" as const,
          tool_call_id: id,
          content: `result ${at}`,
        }));
        const asked = { role, content, tool_calls: toolCalls };
        const second = { model, tools, messages: [...messages, asked, ...results] };
        const last = isStreamed
          ? await completions.stream(second).finalChatCompletion()
          : await completions.create(second);
        const quoted = calls.map((_call, at) => `"result ${at}"`).join(" and ");
        assertEquals(last.choices[0]?.message.content, `The tools said ${quoted}.`);
        assertEquals(last.choices[0]?.finish_reason, "stop");
      }
    }
  });

  Deno.test(`the SDK gets structured output over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const schema = {
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer" } },
      required: ["name", "age"],
      additionalProperties: false,
    };
    const request = {
      model: "sim-json",
      messages: [...messages],
      response_format: {
        type: "json_schema" as const,
        json_schema: { name: "person", strict: true, schema },
      },
    };
    const { completions } = sdk.client.chat;
    for (
      const completion of [
        await completions.create(request),
        await completions.stream(request).finalChatCompletion(),
      ]
    ) {
      const parsed: unknown = JSON.parse(completion.choices[0]?.message.content ?? "");
      assertEquals(parsed, { name: "text", age: 1 });
    }
  });

  Deno.test(`the SDK can leave a stream over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const stream = await sdk.client.chat.completions.create({
      model: "sim-broken-silent",
      messages: [...messages],
      stream: true,
    });
    let text = "";
    for await (const { choices } of stream) {
      text += choices[0]?.delta.content ?? "";
      if (text.includes("four")) stream.controller.abort();
    }
    assertEquals(text, "one two three four");
    assertEquals(endOf(await sdk.gateway.reported(1)), "client_gone");
  });
}
