import { type Outcome, tooManyCalls } from "../../core/stream/stream.ts";
import { isObject, type JsonValue, parseJson } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import type { HttpResponse, UpstreamResponse } from "../../core/stream/reply.ts";
import { invalidResponse, type Result, success } from "../../core/failure/result.ts";
import { changeMembers, type Edit, findValue, parseMembers, splice } from "../../formats/edit.ts";
import { utf8Bytes, utf8Text } from "../../formats/utf8.ts";
import { hasTooMany, isFiltered } from "./chunk.ts";
import { newCallIds } from "../../wires/call_ids.ts";
import { providerError } from "../../wires/openai/errors.ts";
import { parseUsage } from "../../wires/openai/chat_usage.ts";
import { textOf } from "../../wires/compat/find_call.ts";
import { newNumberReader } from "../../wires/compat/text_enums.ts";
import type { CallOptions } from "./choice_calls.ts";
import {
  type CallChange,
  callEdits,
  type Change,
  completedUsage,
  type Identity,
  lacksTotal,
  missingMembers,
  modelChanges,
  numbersBack,
  reasoningEdits,
} from "./relay_edits.ts";

/** Options for relaying a whole completion. */
interface ResponseOptions extends CallOptions {
  readonly extractsReasoning: boolean;
  /** Model of the completion; absent for that of the upstream. */
  readonly shownModel?: string;
}

/**
 * Relays a whole completion from a provider of the client's protocol: the same bytes if it is
 * complete, else with the missing members filled in. Any other body is a fault.
 */
export function relayResponse(
  answer: Pick<UpstreamResponse, "body">,
  newIdentity: () => Identity,
  { extractsReasoning, shownModel, ...options }: ResponseOptions,
): Result<{ readonly response: HttpResponse; readonly outcome: Outcome }> {
  const text = utf8Text(answer.body);
  const value = text === null ? undefined : parseJson(text);
  if (text === null || !isObject(value)) {
    return invalidResponse("The provider's response is not a JSON object.");
  }
  if ((value.error ?? null) !== null) return providerError(value);
  if (!Array.isArray(value.choices) || value.choices.length === 0) {
    return invalidResponse("The provider's response holds no choices.");
  }
  if (hasTooMany(value, "message")) return tooManyCalls();
  const usage = isObject(value.usage) ? value.usage : null;
  const counted = usage === null ? success(null) : parseUsage(usage);
  if (!counted.ok) return counted;
  const changes: Change[] = missingMembers(value, newIdentity);
  changes.push(...modelChanges(value, shownModel));
  // Searched only if it must change: the search reads all of the text before it.
  const span = usage === null || !lacksTotal(usage) ? null : findValue(text, ["usage"]);
  if (usage !== null && span !== null) {
    const completed = completedUsage(text.slice(span.start, span.end), usage);
    if (completed !== null) changes.push(["usage", completed]);
  }
  const edits: Edit[] = changes.length === 0
    ? []
    : changeMembers(text.indexOf("{"), parseMembers(text), changes);
  pushAll(edits, callEdits(text, "message", callChanges(value.choices, options)));
  if (extractsReasoning) pushAll(edits, reasoningEdits(text, value, "message"));
  return success({
    response: {
      status: 200,
      // The provider's other headers describe its own connection and account.
      headers: { "content-type": "application/json" },
      body: edits.length === 0 ? answer.body : utf8Bytes(splice(text, edits)),
    },
    outcome: {
      resource: null,
      usage: counted.value,
      ...isFiltered(value, "message") && { isFiltered: true },
    },
  });
}

/**
 * Returns new ids for the tool calls without an id, or with the id of another call of the same
 * choice, and the arguments in which the host has numbers as texts.
 */
function callChanges(
  choices: readonly JsonValue[],
  { idSource, numbered }: CallOptions,
): CallChange[] {
  return choices.flatMap((choice, at) => {
    const message = isObject(choice) ? choice.message : undefined;
    const items = isObject(message) ? message.tool_calls : undefined;
    if (!Array.isArray(items)) return [];
    const nameCall = newCallIds(idSource);
    return items.flatMap((item, place): CallChange[] => {
      if (!isObject(item)) return [];
      const id = nameCall(item.id);
      const numbers = numbered?.get(textOf(isObject(item.function) ? item.function.name : null));
      const changes: Change[] = numbers === undefined
        ? []
        : numbersBack(item, newNumberReader(numbers));
      if (id !== item.id) changes.push(["id", JSON.stringify(id)]);
      return changes.length === 0 ? [] : [{ choice: at, item: place, changes }];
    });
  });
}
