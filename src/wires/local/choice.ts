import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { mapObjects, refuseBothChoices } from "../chat_request/chat_tools.ts";
import {
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
  wrongValue,
} from "../chat_request/refusals.ts";
import { FIELDS } from "./fields.ts";

const NAME = FIELDS.members("tool_choice[function].function");

const ALLOWED = FIELDS.members("tool_choice[allowed_tools].allowed_tools");

/** Which tools the model may call, and whether it must. */
export interface ToolChoice {
  readonly kind: "none" | "free" | "limited";
  /** Request field of the choice. */
  readonly path: "tool_choice" | "function_call";
  readonly isRequired: boolean;
  /** Returns the names that may be called, of those declared; null for all of them without a check. */
  permitted(declared: readonly string[]): Result<ReadonlySet<string> | null>;
}

/**
 * Returns the choice of a request, from `tool_choice` or legacy `function_call`. A choice other than `auto`
 * and `none` needs `verify`, because the runtime enforces none.
 */
export function parseChoice(body: JsonObject, verify: boolean): Result<ToolChoice> {
  const set = (["tool_choice", "function_call"] as const).filter((path) => !isFree(body[path]));
  const [path = "tool_choice", other] = set;
  const given = body[path] ?? null;
  if (set.some((one) => body[one] === "none")) return success(free("none", path));
  if (isFree(given)) return success(free("free", path));
  if (other !== undefined) return refuseBothChoices(body) ?? success(free("free", path));
  if (!verify) {
    return unsupported(
      path,
      "The provider cannot force a tool call; send 'auto', or use a provider with 'verify: true'.",
    );
  }
  if (path === "function_call") return chosen(parseName(given, path), path);
  if (given === "required") return success(limited(path, true, null));
  if (!isObject(given)) return wrongValue(path, "'auto', 'none', 'required' or an object");
  if (given.type === "allowed_tools") return allowed(given);
  return chosen(parseNamed(given, path), path);
}

/** True for a choice that lets the model decide. */
function isFree(given: Optional): boolean {
  return (given ?? null) === null || given === "auto";
}

function free(kind: "none" | "free", path: ToolChoice["path"]): ToolChoice {
  return { kind, path, isRequired: false, permitted: () => success(null) };
}

/** Returns the choice of the named functions, or of any declared one if `names` is null. */
function limited(
  path: ToolChoice["path"],
  isRequired: boolean,
  names: readonly Named[] | null,
): ToolChoice {
  return {
    kind: "limited",
    path,
    isRequired,
    permitted(declared) {
      if (declared.length === 0) {
        return wrongValue(path, "'auto' or 'none' when there are no tools");
      }
      const known = new Set(declared);
      if (names === null) return success(known);
      const unknown = names.find(({ name }) => !known.has(name));
      return unknown === undefined
        ? success(new Set(names.map(({ name }) => name)))
        : wrongValue(unknown.path, "the name of one of the tools");
    },
  };
}

interface Named {
  readonly name: string;
  readonly path: string;
}

function chosen(one: Result<Named>, path: ToolChoice["path"]): Result<ToolChoice> {
  return one.ok ? success(limited(path, true, [one.value])) : one;
}

function parseNamed(choice: JsonObject, path: string): Result<Named> {
  if (choice.type !== "function") return unsupported(`${path}.type`);
  return unknownMember(choice, FIELDS.members("tool_choice[function]"), path) ??
    parseName(choice.function, `${path}.function`);
}

function parseName(called: Optional, path: string): Result<Named> {
  if (!isObject(called)) return wrongType(path, "an object");
  const unknown = unknownMember(called, NAME, path);
  if (unknown !== null) return unknown;
  const { name } = called;
  return typeof name === "string"
    ? success({ name, path: `${path}.name` })
    : missing(`${path}.name`);
}

/** Returns the choice of some of the tools (OpenAI API, allowed tools). Only these are sent. */
function allowed(choice: JsonObject): Result<ToolChoice> {
  const path = "tool_choice.allowed_tools";
  const unknown = unknownMember(
    choice,
    FIELDS.members("tool_choice[allowed_tools]"),
    "tool_choice",
  );
  if (unknown !== null) return unknown;
  const inner = choice.allowed_tools;
  if (!isObject(inner)) return wrongType(path, "an object");
  const other = unknownMember(inner, ALLOWED, path);
  if (other !== null) return other;
  const { mode } = inner;
  if (mode !== "auto" && mode !== "required") {
    return wrongValue(`${path}.mode`, "'auto' or 'required'");
  }
  const names = mapObjects(inner.tools, `${path}.tools`, parseNamed);
  if (!names.ok) return names;
  return names.value.length === 0
    ? wrongValue(`${path}.tools`, "a list with at least one tool")
    : success(limited("tool_choice", mode === "required", names.value));
}
