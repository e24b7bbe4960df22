import type { JsonObject } from "../core/json/json.ts";
import { MODELS } from "./model_behaviour.ts";
import { toNanosecondTime } from "./local.ts";
import { canThink } from "./local_request.ts";

/** The creation time of every model, in Unix seconds. */
const MODELS_CREATED_AT_S = 1_767_225_600;

/** Returns the body of compat's `GET /v1/models`, which lists all models in one page. */
export function compatModels(): JsonObject {
  return { object: "list", data: MODELS.map(compatEntry) };
}

/** Returns the body of compat's `GET /v1/models/{id}`; null if the model is unknown. */
export function compatModel(id: string): JsonObject | null {
  return MODELS.includes(id) ? compatEntry(id) : null;
}

function compatEntry(id: string) {
  return { id, object: "model", created: MODELS_CREATED_AT_S, owned_by: "simulator" };
}

/**
 * Returns the body of messages' `GET /v1/models`: a page of `limit` models (default 20) after
 * `after_id`.
 */
export function messagesModels(query: URLSearchParams): JsonObject {
  const limit = Math.min(Number(query.get("limit") ?? 20), 1000);
  const after = query.get("after_id");
  const start = after === null ? 0 : MODELS.indexOf(after) + 1;
  const page = MODELS.slice(start, start + limit);
  return {
    data: page.map(messagesEntry),
    has_more: start + limit < MODELS.length,
    first_id: page[0] ?? null,
    last_id: page.at(-1) ?? null,
  };
}

/** Returns the body of messages' `GET /v1/models/{id}`; null if the model is unknown. */
export function messagesModel(id: string): JsonObject | null {
  return MODELS.includes(id) ? messagesEntry(id) : null;
}

function messagesEntry(id: string) {
  return {
    id,
    type: "model",
    display_name: id,
    created_at: new Date(MODELS_CREATED_AT_S * 1000).toISOString(),
  };
}

/** Returns the body of local's `GET /api/tags`. Every model name carries its tag. */
export function localTags(): JsonObject {
  return { models: MODELS.map(localEntry) };
}

function localEntry(id: string) {
  const name = `${id}:latest`;
  const kinds = id === "sim-embed" ? ["embedding"] : ["completion", "tools", "vision"];
  return {
    name,
    model: name,
    modified_at: toNanosecondTime(MODELS_CREATED_AT_S),
    size: 1024,
    digest: "0".repeat(64),
    details: {
      parent_model: "",
      format: "gguf",
      family: "sim",
      families: null,
      parameter_size: "1B",
      quantization_level: "Q4_0",
    },
    capabilities: canThink(id) ? [...kinds, "thinking"] : kinds,
  };
}
