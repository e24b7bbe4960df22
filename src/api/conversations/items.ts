import { isObject, isTooDeep, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { Refusal } from "../../core/failure/failure.ts";
import { type Failed, refuse, type Result, success } from "../../core/failure/result.ts";
import { brokenRule } from "../../prompt/refusals.ts";
import { identifierProblem } from "../stored/identifier.ts";
import { inputItem } from "../items/item_shapes.ts";
import { isReference, typeOf } from "../items/item_type.ts";
import { requiredField, typeProblem, wrongField } from "../items/shape.ts";

/** Largest number of items that one request adds. */
const MAX_ADDED_ITEMS = 20;

const ROLES: readonly unknown[] = ["user", "assistant", "system", "developer"];

/** The text field that a part of a message must have; null if it has none. */
const PARTS: Readonly<Record<string, string | null>> = {
  input_text: "text",
  output_text: "text",
  text: "text",
  summary_text: "text",
  reasoning_text: "text",
  refusal: "refusal",
  input_image: null,
  input_file: null,
  computer_screenshot: null,
};

type Problem = Failed<Refusal> | null;

/**
 * Parses the items of a batch if each of them can be stored (OpenAI API, Conversations). Otherwise
 * refuses the first invalid item by its path, and no item is stored. Of unknown types only the id
 * is checked.
 */
export function parseItemBatch(items: JsonValue | undefined): Result<readonly JsonObject[]> {
  if (!Array.isArray(items)) return wrongField("items", "an array of items");
  if (items.length > MAX_ADDED_ITEMS) {
    return refuse(
      "array_above_max_length",
      {
        kind: "rule",
        rule: `may hold at most ${MAX_ADDED_ITEMS} items; add the rest with another request`,
      },
      "items",
    );
  }
  if (isTooDeep(items)) return brokenRule("items", "are nested too deep");
  const accepted: JsonObject[] = [];
  for (const [index, item] of items.entries()) {
    const path = `items[${index}]`;
    if (!isObject(item)) return wrongField(path, "an object");
    const problem = itemProblem(item, path);
    if (problem !== null) return problem;
    accepted.push(item);
  }
  return success(accepted);
}

function itemProblem(item: JsonObject, path: string): Problem {
  if (isReference(item)) {
    return refuse(
      "unsupported_feature",
      "A local conversation takes no references; send the item itself.",
      `${path}.type`,
    );
  }
  const type = typeOf(item);
  if (type === null || type === "") {
    return (item.type ?? null) === null
      ? refuse("missing_required_parameter", "An item needs a type.", `${path}.type`)
      : wrongField(`${path}.type`, "the name of a type");
  }
  return idProblem(item, path) ?? knownProblem(type, item, path) ??
    typeProblem(inputItem, item, path);
}

function idProblem({ id }: JsonObject, path: string): Problem {
  return (id ?? null) === null ? null : identifierAt(id, `${path}.id`);
}

function knownProblem(type: string, item: JsonObject, path: string): Problem {
  switch (type) {
    case "message":
      return messageProblem(item, path);
    case "function_call":
      return identifierAt(item.call_id, `${path}.call_id`) ??
        textAt(item.name, `${path}.name`) ?? textAt(item.arguments, `${path}.arguments`);
    case "custom_tool_call":
      return identifierAt(item.call_id, `${path}.call_id`) ??
        textAt(item.name, `${path}.name`) ?? textAt(item.input, `${path}.input`);
    case "function_call_output":
    case "custom_tool_call_output":
      return identifierAt(item.call_id, `${path}.call_id`) ??
        textOrListAt(item.output, `${path}.output`);
    case "reasoning":
      return identifierAt(item.id, `${path}.id`) ?? listAt(item.summary, `${path}.summary`);
    default:
      return null;
  }
}

function messageProblem({ role, content }: JsonObject, path: string): Problem {
  const problem = textAt(role, `${path}.role`) ?? textOrListAt(content, `${path}.content`);
  if (problem !== null) return problem;
  if (!ROLES.includes(role)) {
    return refuse("invalid_value", `A message is from ${ROLES.join(", ")}.`, `${path}.role`);
  }
  for (const [index, part] of (Array.isArray(content) ? content : []).entries()) {
    const wrong = partProblem(part, `${path}.content[${index}]`);
    if (wrong !== null) return wrong;
  }
  return null;
}

function partProblem(part: JsonValue, path: string): Problem {
  if (!isObject(part)) return wrongField(path, "an object");
  const { type } = part;
  const problem = textAt(type, `${path}.type`);
  if (problem !== null) return problem;
  if (typeof type !== "string" || !Object.hasOwn(PARTS, type)) {
    return refuse("invalid_value", "A message has no such content.", `${path}.type`);
  }
  const text = PARTS[type] ?? null;
  return text === null ? null : textAt(part[text], `${path}.${text}`);
}

function identifierAt(value: JsonValue | undefined, path: string): Problem {
  const problem = textAt(value, path);
  return typeof value === "string" ? identifierProblem(value, path) : problem;
}

function textAt(value: JsonValue | undefined, path: string): Problem {
  return typeof value === "string" ? null : missing(value, path) ?? wrongField(path, "a text");
}

function listAt(value: JsonValue | undefined, path: string): Problem {
  return Array.isArray(value) ? null : missing(value, path) ?? wrongField(path, "an array");
}

function textOrListAt(value: JsonValue | undefined, path: string): Problem {
  return typeof value === "string" || Array.isArray(value)
    ? null
    : missing(value, path) ?? wrongField(path, "a text or an array");
}

function missing(value: JsonValue | undefined, path: string): Problem {
  return (value ?? null) === null ? requiredField(path) : null;
}
