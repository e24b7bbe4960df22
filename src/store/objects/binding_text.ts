import { isObject, type JsonObject, type JsonValue, parseJson } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Binding, ResponseProvenance, Shown } from "../bindings.ts";
import { recordUnreadable } from "../store_failure.ts";

/**
 * Returns the text under which a binding is stored. Equal bindings have equal texts: scripts
 * compare them.
 */
export function bindingText(binding: Binding): string {
  if (binding.kind === "conflict") {
    return JSON.stringify({ kind: "conflict", creator: binding.creator });
  }
  const { provider, account, origin, creator } = binding.owner;
  return JSON.stringify({ kind: "bound", provider, account, creator, origin: originOf(origin) });
}

function originOf(origin: ResponseProvenance | null): ResponseProvenance | null {
  if (origin === null) return null;
  const { route, model, requestedModel, protocol, hasSnapshot, shown } = origin;
  return { route, model, requestedModel, protocol, hasSnapshot, ...shownOf(shown) };
}

function shownOf(shown: Shown | undefined): Pick<ResponseProvenance, "shown"> {
  if (shown === undefined) return {};
  const { model, appended } = shown;
  return { shown: { model, appended } };
}

/** Returns the binding in a stored text; `state_unreadable` if it is not one. */
export function parseBinding(text: string): Result<Binding> {
  const value = parseJson(text);
  if (!isObject(value)) return recordUnreadable();
  const { kind, provider, account, creator = null } = value;
  if (!isCreator(creator)) return recordUnreadable();
  if (kind === "conflict") return success({ kind, creator });
  const origin = parseOrigin(value.origin);
  const isBound = kind === "bound" && typeof provider === "string" && typeof account === "string";
  if (!isBound || origin === undefined) return recordUnreadable();
  return success({ kind: "bound", owner: { provider, account, origin, creator } });
}

function isCreator(value: JsonValue): value is string | null {
  return value === null || typeof value === "string";
}

/** Returns undefined for a value that is no provenance. */
function parseOrigin(value: JsonObject[string]): ResponseProvenance | null | undefined {
  if (value === null) return null;
  if (!isObject(value)) return undefined;
  const { route, model, requestedModel = null, protocol, hasSnapshot } = value;
  const isProtocol = protocol === "chat_completions" || protocol === "responses";
  const isOrigin = typeof route === "string" && typeof model === "string" &&
    isCreator(requestedModel) && isProtocol && typeof hasSnapshot === "boolean";
  const shown = parseShown(value.shown ?? null);
  return isOrigin && shown !== null
    ? { route, model, requestedModel, protocol, hasSnapshot, ...shown }
    : undefined;
}

/** Returns null for a value that is none. */
function parseShown(value: JsonValue): Pick<ResponseProvenance, "shown"> | null {
  if (value === null) return {};
  if (!isObject(value)) return null;
  const { model = null, appended } = value;
  return isCreator(model) && typeof appended === "number" ? { shown: { model, appended } } : null;
}
