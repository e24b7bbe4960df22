import assert from "node:assert/strict";
import {
  Agent,
  type AgentInputItem,
  type Model,
  run,
  setTracingDisabled,
  tool,
} from "@openai/agents";
import OpenAI from "openai";
import type { Client, Place } from "../client.ts";
import {
  checkImage,
  checkRecalled,
  checkStream,
  checkTranscript,
  CLOCK,
  clock,
  fixtures,
  IMAGE_URL,
  REPORT,
  WEATHER,
  weather,
} from "./fixtures.ts";

// Traces would be sent to the makers of the SDK.
setTracingDisabled(true);

const TOOLS = [
  tool({
    name: "weather",
    description: fixtures.weather.description,
    parameters: WEATHER,
    execute: weather,
  }),
  tool({
    name: "clock",
    description: fixtures.clock.description,
    parameters: CLOCK,
    execute: clock,
  }),
];

/** Makes a model of the Agents SDK over one of the APIs. */
export type NewModel = (connection: OpenAI, model: string) => Model;

/**
 * Returns the uses of the Agents SDK with one of its kinds of models, which may send its thinking
 * back.
 */
export function agentsShots(newModel: NewModel, sendsThinkingBack: boolean): Client["shots"] {
  const modelOf = (place: Place, name: string) => {
    const { baseURL, apiKey } = place;
    return newModel(new OpenAI({ baseURL, apiKey, maxRetries: 0 }), place.model(name));
  };
  const agentOf = (place: Place, name: string) =>
    new Agent({ name: "helper", model: modelOf(place, name) });
  return {
    async question(place) {
      const { finalOutput } = await run(agentOf(place, "sim-echo"), fixtures.question);
      assert.equal(finalOutput, fixtures.question);
    },
    async stream(place) {
      const result = await run(agentOf(place, "sim-echo"), fixtures.question, { stream: true });
      const pieces: string[] = [];
      for await (const event of result) {
        if (event.type !== "raw_model_stream_event") continue;
        if (event.data.type === "output_text_delta") pieces.push(event.data.delta);
      }
      await result.completed;
      checkStream(pieces);
      assert.equal(result.finalOutput, fixtures.question);
    },
    async tools(place) {
      const agent = agentOf(place, "sim-tools-parallel").clone({ tools: TOOLS });
      const whole = await run(agent, fixtures.toolQuestion);
      assert.equal(whole.finalOutput, fixtures.bothResults);
      const streamed = await run(agent, fixtures.toolQuestion, { stream: true });
      await streamed.completed;
      assert.equal(streamed.finalOutput, fixtures.bothResults);
    },
    async structured(place) {
      const agent = new Agent({
        name: "helper",
        model: modelOf(place, "sim-json"),
        outputType: REPORT,
      });
      const { finalOutput } = await run(agent, fixtures.question);
      assert.deepEqual(finalOutput, fixtures.reportValue);
    },
    async turns(place) {
      const instructions = fixtures.system;
      const first = await run(
        agentOf(place, "sim-echo").clone({ instructions }),
        fixtures.firstTurn,
      );
      const second = await run(agentOf(place, "sim-transcript").clone({ instructions }), [
        ...first.history,
        { role: "user", content: fixtures.secondTurn },
      ]);
      checkTranscript(second.finalOutput ?? "");
    },
    async image(place) {
      const question: AgentInputItem = {
        role: "user",
        content: [
          { type: "input_text", text: fixtures.imageQuestion },
          { type: "input_image", image: IMAGE_URL },
        ],
      };
      const { finalOutput } = await run(agentOf(place, "sim-transcript"), [question]);
      checkImage(finalOutput ?? "");
    },
    async thinking(place) {
      const modelSettings = { reasoning: { effort: "low", summary: "auto" } } as const;
      const agent = agentOf(place, "sim-recall").clone({ tools: TOOLS, modelSettings });
      const first = await run(agent, fixtures.toolQuestion);
      checkRecalled(first.finalOutput ?? "", sendsThinkingBack);
      const second = await run(agentOf(place, "sim-think").clone({ modelSettings }), [
        ...first.history,
        { role: "user", content: fixtures.question },
      ]);
      assert.equal(second.finalOutput, fixtures.question);
    },
    async required(place) {
      const agent = agentOf(place, "sim-tools").clone({
        tools: TOOLS,
        modelSettings: { toolChoice: "clock", parallelToolCalls: false },
      });
      const { finalOutput } = await run(agent, fixtures.toolQuestion);
      assert.equal(finalOutput, 'The tools said "noon in UTC".');
    },
  };
}
