import type { JsonObject } from "../../core/json/json.ts";
import type { ReasoningBlock } from "../../core/stream/reasoning.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { newArgumentParser } from "../../prompt/call_arguments.ts";
import { type AssistantTurn, callId, type ToolCall } from "../../prompt/prompt.ts";
import { encodeContent, textBlocks } from "./content.ts";
import type { SectionInput } from "./controls.ts";
import { toolId } from "./ids.ts";
import { placeThinking } from "./place_thinking.ts";

type Blocks = Result<readonly JsonObject[]>;

/**
 * Returns the encoder of assistant messages: blocks in the order that the Messages API requires,
 * which is thinking, text, tool calls; stored thinking in the order of the response.
 */
export function newAssistantEncoder(
  { carrier, target: { account } }: SectionInput,
): (turn: AssistantTurn) => Blocks {
  const parseArguments = newArgumentParser();

  return (turn) => {
    const stored = storedThinking(turn);
    if (!stored.ok) return stored;
    const content = turn.content === null ? success([]) : encodeContent(turn.content, carrier);
    if (!content.ok) return content;
    const calls: JsonObject[] = [];
    for (const call of turn.calls) {
      const block = encodeCall(call);
      if (!block.ok) return block;
      calls.push(block.value);
    }
    const texts = [...content.value, ...textBlocks(turn.refusal?.value ?? "")];
    const own = turn.thinking.map(({ value }) => value);
    return success([...own, ...placeThinking(stored.value, texts, calls)]);
  };

  /**
   * Returns the stored thinking of a message that has none of the client. A reasoning text without
   * it is left out: the upstream ignores the thinking of earlier turns (Messages API, extended
   * thinking), and a running tool loop continues without (`thinking`).
   */
  function storedThinking(turn: AssistantTurn): Result<readonly ReasoningBlock[]> {
    const { thinking, stored, reasoning, at } = turn;
    if (thinking.length > 0) return success([]);
    if (stored?.account === account.digest) return success(stored.blocks);
    if (reasoning === null) {
      if (stored !== null) carrier.lose(at.path);
      return success([]);
    }
    return carrier.apply(reasoning.at) ?? success([]);
  }

  function encodeCall(call: ToolCall): Result<JsonObject> {
    const input = parseArguments(call);
    if (!input.ok) return input;
    const id = toolId(callId(call));
    return success({ type: "tool_use", id, name: call.name, input: input.value });
  }
}
