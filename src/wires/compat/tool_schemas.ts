import { isObject, type JsonDocument, parseExact } from "../../core/json/json.ts";
import { type Failed, type Result, success } from "../../core/failure/result.ts";
import {
  type Edit,
  findMember,
  findValue,
  parseElements,
  replaceValue,
} from "../../formats/edit.ts";
import { MAX_LOST, newSchemaBudget, rewriteSchema } from "./rewrite_schema.ts";
import type { NumberedFunctions, TextNumbers } from "./text_enums.ts";

/** A place below the parameters of a tool. */
export interface SchemaPlace {
  readonly kind: "schema";
  readonly tool: number;
  readonly below: string;
}

/** The changed schemas of the functions of a request. */
export interface RewrittenTools {
  readonly edits: readonly Edit[];
  readonly lost: readonly SchemaPlace[];
  readonly numbered: NumberedFunctions;
  /** Indexes of the tools whose strict schema was changed. */
  readonly strict: readonly number[];
}

/** Returns the edits of the parameters of all functions; `refuse` makes the refusal of one. */
export function rewriteTools(
  { text, value }: JsonDocument,
  refuse: (tool: number) => Failed,
): Result<RewrittenTools> {
  const tools = Array.isArray(value.tools) ? value.tools : [];
  const spans = parseElements(text, findValue(text, ["tools"])?.start ?? text.length);
  const budget = newSchemaBudget();
  const edits: Edit[] = [];
  const lost: SchemaPlace[] = [];
  const numbered = new Map<string, TextNumbers>();
  const strict: number[] = [];
  for (const [tool, span] of spans.entries()) {
    const given = tools[tool];
    const holder = isObject(given) ? findMember(text, span.start, "function") : undefined;
    const parameters = holder && findMember(text, holder.start, "parameters");
    if (parameters === undefined) continue;
    const schema = parseExact(text.slice(parameters.start, parameters.end));
    if (!isObject(schema)) continue;
    const rewritten = rewriteSchema(schema, budget);
    if (rewritten === null) return refuse(tool);
    const changed = JSON.stringify(rewritten.schema);
    edits.push(replaceValue(parameters, changed));
    const called = isObject(given) && isObject(given.function) ? given.function : {};
    if (called.strict === true && changed !== JSON.stringify(schema)) strict.push(tool);
    if (rewritten.enums.size > 0 && typeof called.name === "string") {
      numbered.set(called.name, rewritten);
    }
    for (const below of rewritten.lost.slice(0, MAX_LOST - lost.length)) {
      lost.push({ kind: "schema", tool, below });
    }
  }
  return success({ edits, lost, numbered, strict });
}
