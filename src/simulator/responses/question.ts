import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json.ts";
import type { Account } from "../account.ts";
import type { Ask, Complaint, Stage, Tool } from "../voice.ts";
import { complain } from "../voice.ts";
import { wordsOf } from "../words.ts";
import { type History, historyOf, itemOf } from "./history.ts";
import { contextComplaints, itemComplaints } from "./item_rules.ts";
import { itemsIn, listed, textOf, typeOf } from "./items.ts";
import { fieldComplaints } from "./rules.ts";

/** A request of the Responses protocol, understood. */
export interface Question {
  readonly body: JsonObject;
  readonly ask: Ask;
  /** The items of this request, as they are listed. */
  readonly fresh: readonly JsonObject[];
  /** Those, and what came before them. */
  readonly context: readonly JsonObject[];
  readonly conversation: string | null;
  /** A hosted search may be used. */
  readonly maySearch: boolean;
  /** Reasoning comes with its encrypted content. */
  readonly sealed: boolean;
}

/** Reads a create, compact or count, or tells the first thing that is wrong with it. */
export function readQuestion(
  body: JsonObject,
  account: Account,
  stage: Stage,
): { readonly question: Question } | { readonly complaint: Complaint } {
  const given = Array.isArray(body.input) ? body.input : [];
  for (const complaint of fieldComplaints(body)) return { complaint };
  for (const complaint of itemComplaints(given, "input")) return { complaint };
  const found = historyOf(body, account);
  if ("complaint" in found) return found;
  const { history } = found;
  const fresh: JsonObject[] = [];
  for (const item of itemsIn(body.input)) {
    const meant = typeOf(item) === "item_reference" ? itemOf(String(item.id), account) : item;
    if (meant === undefined) {
      const details = { status: 404, param: "input" };
      return { complaint: complain(`Item with id '${item.id}' not found.`, details) };
    }
    fresh.push(listed(meant, stage));
  }
  for (const complaint of duplicates(fresh, history)) return { complaint };
  const context = [...history.items, ...fresh];
  for (const complaint of contextComplaints(context, account)) return { complaint };
  return { question: questionOf(body, fresh, context, history) };
}

function* duplicates(fresh: readonly JsonObject[], history: History): Generator<Complaint> {
  if (history.conversation === null) return;
  const known = new Set(history.items.map(({ id }) => id));
  for (const { id } of fresh) {
    if (known.has(id)) yield complain(`Duplicate item found with id ${id}.`, { param: "input" });
  }
}

function questionOf(
  body: JsonObject,
  fresh: readonly JsonObject[],
  context: readonly JsonObject[],
  { conversation }: History,
): Question {
  const results = resultsOf(context);
  const instructions = typeof body.instructions === "string" ? body.instructions : "";
  const model = typeof body.model === "string" ? body.model : "";
  const asked = context.findLast(({ role }) => role === "user");
  const reasoning = isObject(body.reasoning) ? body.reasoning : {};
  const spoken = [instructions, ...context.map(textOf)];
  return {
    body,
    fresh,
    context,
    conversation,
    maySearch: results.length === 0 && mayBeSearched(body),
    sealed: Array.isArray(body.include) && body.include.includes("reasoning.encrypted_content"),
    ask: {
      model,
      shownModel: model,
      stream: body.stream === true,
      prompt: asked === undefined ? "" : textOf(asked),
      results,
      tools: toolsOf(body),
      single: body.parallel_tool_calls === false,
      schema: schemaOf(body.text),
      think: reasoning.effort !== "none",
      limit: numberOf(body.max_output_tokens),
      input: spoken.reduce((sum, text) => sum + wordsOf(text).length, 0),
      choices: 1,
      loadOnly: false,
      usageWanted: true,
    },
  };
}

function resultsOf(items: readonly JsonObject[]): readonly string[] {
  const before = items.findLastIndex(({ type }) => type !== "function_call_output");
  return items.slice(before + 1).map(textOf);
}

function mayBeSearched({ tools, tool_choice: choice }: JsonObject): boolean {
  return choice !== "none" && Array.isArray(tools) &&
    tools.some((tool) => isObject(tool) && String(tool.type).startsWith("web_search"));
}

function toolsOf({ tools, tool_choice: choice }: JsonObject): readonly Tool[] {
  if (!Array.isArray(tools) || choice === "none") return [];
  const all = tools.flatMap((tool) => {
    if (!isObject(tool) || tool.type !== "function" || typeof tool.name !== "string") return [];
    return [{ name: tool.name, parameters: isObject(tool.parameters) ? tool.parameters : {} }];
  });
  if (!isObject(choice)) return all;
  const chosen = Array.isArray(choice.tools) ? choice.tools : [choice];
  const allowed = chosen.flatMap((tool) => isObject(tool) ? [tool.name] : []);
  return all.filter(({ name }) => allowed.includes(name));
}

function schemaOf(text: JsonValue | undefined): JsonObject | null {
  if (!isObject(text) || !isObject(text.format)) return null;
  return isObject(text.format.schema) ? text.format.schema : null;
}
