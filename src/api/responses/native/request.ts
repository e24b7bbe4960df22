import type { JsonDocument } from "../../../core/json/json.ts";
import { changeMembers, parseElements, splice } from "../../../formats/edit.ts";
import { samplingDefaults } from "../../../wires/sampling.ts";
import type { Target } from "../../../wires/wire.ts";
import { type ResolvedRequest, storedHistory } from "../state/continuation.ts";
import type { ResponsesRequest } from "../request.ts";
import type { NativePreset } from "./preset.ts";
import type { SentContext } from "./stored_tools.ts";
import { type OmittedTools, remainingItem, remainingTools } from "./omitted_tools.ts";

/**
 * Returns the client's document for a native target, with the target's model, what a named model
 * adds, and sampling defaults, without the tools that are left out, and with `store: false` if the
 * gateway stores nothing. If the gateway stores the earlier items, they precede the new input items
 * and replace the ID that refers to them.
 */
export function nativeBody(
  { document, previousResponseId, store }: ResponsesRequest,
  context: SentContext,
  target: Target,
  omitted: OmittedTools = new Map(),
  preset: Pick<NativePreset, "entries" | "values"> = { entries: [], values: {} },
): string {
  const { text, value, members } = document;
  const tools = omitted.size === 0 ? undefined : remainingTools(document, omitted);
  const input = () => ["input", inputText(document, context, omitted)] as const;
  const changes: (readonly [key: string, valueText: string | null])[] = [
    ...(value.model === target.model ? [] : [["model", JSON.stringify(target.model)] as const]),
    ...preset.entries,
    ...samplingDefaults({ ...value, ...preset.values }, target.provider),
    ...(tools === undefined ? [] : [["tools", tools] as const]),
    // The provider stores a response unless the request forbids it.
    ...(store || value.store === false ? [] : [["store", "false"] as const]),
  ];
  const { continuation } = context;
  switch (continuation.kind) {
    case "none":
    case "upstream_conversation":
      if (
        context.hasChangedItem === true ||
        [...omitted.keys()].some((path) => path.startsWith("input["))
      ) changes.push(input());
      break;
    case "local":
      changes.push(input(), ["previous_response_id", null], ["conversation", null]);
      break;
    case "upstream_response": {
      const { previousResponseId: previous, tail } = continuation;
      if (tail.length > 0 || context.hasChangedItem === true) changes.push(input());
      if (previous !== previousResponseId) {
        changes.push(["previous_response_id", JSON.stringify(previous)]);
      }
    }
  }
  return splice(text, changeMembers(text.indexOf("{"), members, changes));
}

/** Returns the text of `input`: new items with their original text, references as stored items. */
function inputText(
  { text, value, members }: JsonDocument,
  { continuation, added }: ResolvedRequest,
  omitted: OmittedTools,
): string {
  const input = members.find(({ key }) => key === "input");
  const spans = input === undefined || !Array.isArray(value.input)
    ? []
    : parseElements(text, input.start);
  const written = new Map<string | null, string>();
  for (const [index, { start, end }] of spans.entries()) {
    const path = `input[${index}]`;
    written.set(path, remainingItem(text.slice(start, end), path, omitted));
  }
  const items = [
    ...storedHistory(continuation).map((item) => JSON.stringify(item)),
    ...added.map(({ item, path, isStored }) =>
      (isStored ? undefined : written.get(path)) ?? JSON.stringify(item)
    ),
  ];
  return `[${items.join(",")}]`;
}
