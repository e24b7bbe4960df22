import assert from "node:assert/strict";
import OpenAI from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import type { Client, Place } from "../../client.ts";
import {
  checkImage,
  checkRecalled,
  checkStream,
  checkThinking,
  checkTranscript,
  CLOCK,
  fixtures,
  IMAGE_URL,
  REPORT,
  runTool,
  WEATHER,
} from "../fixtures.ts";

const TOOLS = [
  zodResponsesFunction({ name: "weather", parameters: WEATHER }),
  zodResponsesFunction({ name: "clock", parameters: CLOCK }),
];

function connect({ baseURL, apiKey }: Place): OpenAI {
  return new OpenAI({ baseURL, apiKey, maxRetries: 0 });
}

function user(content: string) {
  return { role: "user" as const, content };
}

/** Returns the outputs of the functions that a response calls. */
function outputsOf({ output }: OpenAI.Responses.Response) {
  return output.flatMap((item) =>
    item.type === "function_call"
      ? [{
        type: "function_call_output" as const,
        call_id: item.call_id,
        output: runTool(item.name, item.arguments),
      }]
      : []
  );
}

/** The official SDK over Responses; the tool loop once with and once without stored responses. */
export const client: Client = {
  title: "openai, Responses",
  packages: ["openai"],
  shots: {
    async question(place) {
      const response = await connect(place).responses.create({
        model: place.model("sim-echo"),
        input: fixtures.question,
      });
      assert.equal(response.output_text, fixtures.question);
    },
    async stream(place) {
      const stream = connect(place).responses.stream({
        model: place.model("sim-echo"),
        input: fixtures.question,
      });
      const pieces: string[] = [];
      stream.on("response.output_text.delta", ({ delta }) => void pieces.push(delta));
      const { output_text: text, usage } = await stream.finalResponse();
      checkStream(pieces, text);
      assert((usage?.output_tokens ?? 0) > 0, "there is no usage");
    },
    async tools(place) {
      const { responses } = connect(place);
      const model = place.model("sim-tools-parallel");
      const question = user(fixtures.toolQuestion);
      const stored = await responses.parse({ model, tools: TOOLS, input: [question] });
      const continued = await responses.parse({
        model,
        tools: TOOLS,
        previous_response_id: stored.id,
        input: outputsOf(stored),
      });
      assert.equal(continued.output_text, fixtures.bothResults);
      const whole = await responses.parse({
        model,
        tools: TOOLS,
        input: [question],
        store: false,
      });
      const sentBack = await responses.parse({
        model,
        tools: TOOLS,
        input: [question, ...whole.output, ...outputsOf(whole)] as OpenAI.Responses.ResponseInput,
        store: false,
      });
      assert.equal(sentBack.output_text, fixtures.bothResults);
    },
    async structured(place) {
      const { responses } = connect(place);
      const model = place.model("sim-json");
      const text = { format: zodTextFormat(REPORT, "report") };
      const question = user(fixtures.question);
      const first = await responses.parse({ model, text, input: [question], store: false });
      assert.deepEqual(first.output_parsed, fixtures.reportValue);
      // What the SDK parsed is sent back with the items.
      const second = await responses.parse({
        model,
        text,
        input: [question, ...first.output, user("And tomorrow?")] as OpenAI.Responses.ResponseInput,
        store: false,
      });
      assert.deepEqual(second.output_parsed, fixtures.reportValue);
    },
    async json(place) {
      const response = await connect(place).responses.create({
        model: place.model("sim-json"),
        input: fixtures.jsonQuestion,
        text: { format: { type: "json_object" } },
      });
      assert.deepEqual(JSON.parse(response.output_text), fixtures.jsonValue);
    },
    async turns(place) {
      const { responses } = connect(place);
      const instructions = fixtures.system;
      const first = await responses.create({
        model: place.model("sim-echo"),
        instructions,
        input: fixtures.firstTurn,
      });
      const second = await responses.create({
        model: place.model("sim-transcript"),
        instructions,
        previous_response_id: first.id,
        input: fixtures.secondTurn,
      });
      checkTranscript(second.output_text);
    },
    async image(place) {
      const response = await connect(place).responses.create({
        model: place.model("sim-transcript"),
        input: [{
          role: "user",
          content: [
            { type: "input_text", text: fixtures.imageQuestion },
            { type: "input_image", image_url: IMAGE_URL, detail: "auto" },
          ],
        }],
      });
      checkImage(response.output_text);
    },
    async thinking(place) {
      const { responses } = connect(place);
      const shared = {
        model: place.model("sim-recall"),
        tools: TOOLS,
        reasoning: { effort: "low", summary: "auto" },
        store: false,
      } as const;
      const include: OpenAI.Responses.ResponseIncludable[] = ["reasoning.encrypted_content"];
      const question = user(fixtures.toolQuestion);
      const first = await responses.create({
        ...shared,
        include,
        input: [question],
      });
      const [reasoning] = first.output;
      assert(reasoning?.type === "reasoning", "there is no reasoning item");
      checkThinking(reasoning.summary[0]?.text ?? reasoning.content?.[0]?.text);
      const second = await responses.create({
        ...shared,
        include,
        input: [question, ...first.output, ...outputsOf(first)] as OpenAI.Responses.ResponseInput,
      });
      checkRecalled(second.output_text, true);
    },
    async required(place) {
      const { output } = await connect(place).responses.parse({
        model: place.model("sim-tools"),
        input: fixtures.toolQuestion,
        tools: TOOLS,
        tool_choice: { type: "function", name: "clock" },
        parallel_tool_calls: false,
      });
      const calls = output.filter((item) => item.type === "function_call");
      assert.deepEqual(calls.map((call) => call.parsed_arguments), [{ zone: "UTC" }]);
    },
  },
};
