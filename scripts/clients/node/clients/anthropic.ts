import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import type { Client, Place } from "../../client.ts";
import {
  checkImage,
  checkRecalled,
  checkStream,
  checkThinking,
  checkTranscript,
  fixtures,
  REPORT,
  runTool,
} from "../fixtures.ts";

/** Members of every request. */
const COMMON = { max_tokens: 4096 };

const TOOLS: Anthropic.Tool[] = (["weather", "clock"] as const).map((name) => ({
  name,
  description: fixtures[name].description,
  input_schema: fixtures[name].parameters as Anthropic.Tool.InputSchema,
}));

function connect({ root, apiKey }: Place): Anthropic {
  return new Anthropic({ baseURL: root, apiKey, maxRetries: 0 });
}

function user(content: Anthropic.MessageParam["content"]): Anthropic.MessageParam {
  return { role: "user", content };
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => block.type === "text" ? block.text : "").join("");
}

/** Runs the calls of a message and asks again, until a message has no calls. */
async function loop(
  place: Place,
  request: Omit<Anthropic.MessageStreamParams, "messages">,
  messages: Anthropic.MessageParam[],
): Promise<Anthropic.Message> {
  for (;;) {
    const message = await connect(place).messages
      .stream({ ...request, tools: TOOLS, messages })
      .finalMessage();
    messages.push({ role: "assistant", content: message.content });
    const results = message.content.flatMap((block) =>
      block.type === "tool_use"
        ? [{
          type: "tool_result" as const,
          tool_use_id: block.id,
          content: runTool(block.name, JSON.stringify(block.input)),
        }]
        : []
    );
    if (results.length === 0) return message;
    messages.push(user(results));
  }
}

/** The official SDK of the Messages API. */
export const client: Client = {
  title: "@anthropic-ai/sdk",
  packages: ["@anthropic-ai/sdk"],
  shots: {
    async question(place) {
      const message = await connect(place).messages.create({
        ...COMMON,
        model: place.model("sim-echo"),
        messages: [user(fixtures.question)],
      });
      assert.equal(textOf(message), fixtures.question);
    },
    async stream(place) {
      const stream = connect(place).messages.stream({
        ...COMMON,
        model: place.model("sim-echo"),
        messages: [user(fixtures.question)],
      });
      const pieces: string[] = [];
      stream.on("text", (piece) => void pieces.push(piece));
      const { usage } = await stream.finalMessage();
      checkStream(pieces);
      assert(usage.output_tokens > 0, "there is no usage");
    },
    async tools(place) {
      const request = { ...COMMON, model: place.model("sim-tools-parallel") };
      const message = await loop(place, request, [user(fixtures.toolQuestion)]);
      assert.equal(textOf(message), fixtures.bothResults);
    },
    async structured(place) {
      const message = await connect(place).messages.parse({
        ...COMMON,
        model: place.model("sim-json"),
        messages: [user(fixtures.question)],
        output_config: { format: zodOutputFormat(REPORT) },
      });
      assert.deepEqual(message.parsed_output, fixtures.reportValue);
    },
    async turns(place) {
      const { messages } = connect(place);
      const question = user(fixtures.firstTurn);
      const system = fixtures.system;
      const first = await messages.create({
        ...COMMON,
        model: place.model("sim-echo"),
        system,
        messages: [question],
      });
      const second = await messages.create({
        ...COMMON,
        model: place.model("sim-transcript"),
        system,
        messages: [
          question,
          { role: "assistant", content: first.content },
          user(fixtures.secondTurn),
        ],
      });
      checkTranscript(textOf(second));
    },
    async image(place) {
      const source = {
        type: "base64" as const,
        media_type: "image/png" as const,
        data: fixtures.image,
      };
      const message = await connect(place).messages.create({
        ...COMMON,
        model: place.model("sim-transcript"),
        messages: [
          user([{ type: "text", text: fixtures.imageQuestion }, { type: "image", source }]),
        ],
      });
      checkImage(textOf(message));
    },
    async thinking(place) {
      const thinking = { type: "enabled" as const, budget_tokens: 1024 };
      const messages = [user(fixtures.toolQuestion)];
      const request = { ...COMMON, thinking, model: place.model("sim-recall") };
      const first = await loop(place, request, messages);
      // An upstream with the Responses API cannot read thinking without its encrypted form, for
      // which the Messages API has no place.
      checkRecalled(textOf(first), !place.model("").startsWith("native/"));
      const second = await connect(place).messages.create({
        ...COMMON,
        thinking,
        model: place.model("sim-think"),
        tools: TOOLS,
        messages: [...messages, user(fixtures.question)],
      });
      assert.equal(textOf(second), fixtures.question);
      const [block] = second.content;
      checkThinking(block?.type === "thinking" ? block.thinking : null);
    },
    async required(place) {
      const { content } = await connect(place).messages.create({
        ...COMMON,
        model: place.model("sim-tools"),
        messages: [user(fixtures.toolQuestion)],
        tools: TOOLS,
        tool_choice: { type: "tool", name: "clock", disable_parallel_tool_use: true },
      });
      const calls = content.filter((block) => block.type === "tool_use");
      assert.deepEqual(calls.map(({ name, input }) => [name, input]), [["clock", { zone: "UTC" }]]);
    },
  },
};
