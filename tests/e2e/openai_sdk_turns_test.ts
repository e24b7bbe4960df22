import type OpenAI from "openai";
import { assert, assertEquals } from "../support/assert.ts";
import { startSdk, WIRES } from "./sdk.ts";

type Input = OpenAI.Responses.ResponseInput;

const parameters = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city", "days"],
  additionalProperties: false,
};

function tool(name: string): OpenAI.Responses.FunctionTool {
  return { type: "function", name, description: "Weather.", parameters, strict: false };
}

const TOOLS = [tool("weather"), tool("forecast")];

/** The results of every call in an answer. */
function resultsOf({ output }: OpenAI.Responses.Response): Input {
  return output.filter((item) => item.type === "function_call").map((call, at) => ({
    type: "function_call_output",
    call_id: call.call_id,
    output: `result ${at}`,
  }));
}

/** Returns the items that an answer adds to a dialogue which the client keeps itself. */
function turnOf({ output }: OpenAI.Responses.Response): Input {
  return output.flatMap((item) => {
    const { type } = item;
    return type === "message" || type === "reasoning" || type === "function_call" ? [item] : [];
  });
}

for (const wire of WIRES) {
  Deno.test(`the SDK carries reasoning from turn to turn over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const { responses } = sdk.client;
    const question: Input = [{ role: "user", content: "Weather?" }];
    const thinking = {
      model: "sim-think-tools",
      tools: TOOLS,
      reasoning: { effort: "low" as const },
      max_output_tokens: 4096,
      include: ["reasoning.encrypted_content" as const],
    };
    for (const store of [true, false]) {
      const body = { ...thinking, input: question, store };
      for (
        const first of [
          await responses.create(body),
          await responses.stream(body).finalResponse(),
        ]
      ) {
        const [reasoning, call] = first.output;
        assert(reasoning?.type === "reasoning" && call?.type === "function_call");
        const thought = (reasoning.content ?? []).map((part) => part.text).join("");
        assertEquals(thought, "The user says: Weather?");
        assertEquals(typeof reasoning.encrypted_content, "string");
        const input = resultsOf(first);
        // The simulator refuses a tool call without the thinking before it, as the real one does.
        const second = await responses.create(
          store
            ? { ...thinking, previous_response_id: first.id, input }
            : { ...thinking, store, input: [...question, ...turnOf(first), ...input] },
        );
        assertEquals(second.output_text, 'The tools said "result 0".');
      }
    }
  });
}
