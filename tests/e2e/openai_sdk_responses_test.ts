import { zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { assertValid } from "../support/schemas.ts";
import { startSdk, WIRES } from "./sdk.ts";

for (const wire of WIRES) {
  Deno.test(`the SDK gets a response over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const { data, response } = await sdk.client.responses.create({
      model: "sim-echo",
      instructions: "Be brief.",
      input: "good day to you",
      metadata: { topic: "greetings" },
      max_output_tokens: 50,
    }).withResponse();
    assertEquals(response.headers.get("x-gateway-provider"), "sim");
    assertValid("Response", JSON.parse(JSON.stringify(data)));
    assertEquals([data.status, data.output_text], ["completed", "good day to you"]);
    assertEquals(data.usage?.output_tokens, 4);
    assertEquals(data.usage?.total_tokens, (data.usage?.input_tokens ?? 0) + 4);
    assertEquals([data.metadata, data.max_output_tokens], [{ topic: "greetings" }, 50]);
    assertEquals(data.instructions, "Be brief.");
  });

  Deno.test(`the SDK streams a response over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const stream = await sdk.client.responses.create({
      model: "sim-long-50",
      input: "good day",
      stream: true,
    });
    const events = await Array.fromAsync(stream);
    assertEquals(events.map((event) => event.sequence_number), [...events.keys()]);
    const types = events.map(({ type }) => type);
    assertEquals(types.slice(0, 4), [
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
    ]);
    assertEquals(types.slice(-4), [
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    const deltas = events.map((event) =>
      event.type === "response.output_text.delta" ? event.delta : ""
    );
    assertMatch(deltas.join(""), /^word1 word2 .* word50$/);
    const last = events.at(-1);
    assert(last?.type === "response.completed");
    assertEquals(last.response.usage?.output_tokens, 50);
  });

  Deno.test(`the SDK's stream helper understands a response over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const runner = sdk.client.responses.stream({ model: "sim-echo", input: "good day to you" });
    const pieces: string[] = [];
    const seen: string[] = [];
    runner.on("response.output_text.delta", ({ delta }) => void pieces.push(delta));
    runner.on("event", ({ type }) => void seen.push(type));
    const response = await runner.finalResponse();
    assertEquals(pieces.join(""), "good day to you");
    assertEquals([response.status, response.output_text], ["completed", "good day to you"]);
    assertEquals(seen.filter((type) => type === "response.completed").length, 1);
    assertEquals(response.usage?.output_tokens, 4);
  });

  Deno.test(`the SDK shows the status and reason of an ended response over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const { responses } = sdk.client;
    for (
      const answer of [
        await responses.create({ model: "sim-length", input: "hi" }),
        await responses.stream({ model: "sim-length", input: "hi" }).finalResponse(),
      ]
    ) {
      assertEquals(answer.status, "incomplete");
      assertEquals(answer.incomplete_details, { reason: "max_output_tokens" });
      assertEquals(answer.output_text, "This answer ends in the middle of a");
    }
  });

  Deno.test(`the SDK parses structured output over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const { responses } = sdk.client;
    const person = z.object({ name: z.string(), kind: z.enum(["human", "robot"]) });
    const text = { format: zodTextFormat(person, "person") };
    const body = { model: "sim-json", input: "Who?", text };
    for (
      const answer of [
        await responses.parse(body),
        await responses.stream(body).finalResponse(),
      ]
    ) {
      const { name, kind } = person.parse(answer.output_parsed);
      assertEquals([name, kind], ["text", "human"]);
    }
  });
}
