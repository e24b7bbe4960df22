import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import type { AgentModel } from "./agents.ts";

/** A catalog of models for Codex (`model_catalog_json`). */
export interface CodexCatalog {
  readonly text: string;
  /** True if the entry could not be made of one of Codex itself. */
  readonly isMinimal: boolean;
}

/** Members of an entry that are equal for every model behind a gateway. */
const SET: JsonObject = {
  visibility: "list",
  supported_in_api: true,
  apply_patch_tool_type: "freeform",
  supported_reasoning_levels: [],
  use_responses_lite: false,
  supports_search_tool: false,
  support_verbosity: false,
  supports_reasoning_effort_updates: false,
  experimental_supported_tools: [],
  service_tiers: [],
  additional_speed_tiers: [],
  upgrade: null,
  availability_nux: null,
};

/** An entry with instructions of two sentences, if there is no bundled one. */
const MINIMAL: JsonObject = {
  shell_type: "unified_exec",
  truncation_policy: { mode: "tokens", limit: 10_000 },
  input_modalities: ["text"],
  base_instructions:
    "You are a coding agent that works in the user's folder with the tools of this request. " +
    "Read before you change, make the smallest change that does the task, and say what you did.",
};

/** Members of an entry that only hold for the model that it is made of. */
const LEFT_OUT: readonly string[] = [
  "default_reasoning_level",
  "default_verbosity",
  "comp_hash",
  "web_search_tool_type",
];

/**
 * Returns the catalog with these models: each is the first bundled model of Codex whose tools are
 * plain, with the name and the context size of this one. `bundled` is the output of `codex debug
 * models --bundled`; without a usable entry in it the catalog has minimal ones.
 */
export function codexCatalog(bundled: string, named: readonly AgentModel[]): CodexCatalog {
  const listed = parseJson(bundled);
  const models = isObject(listed) && Array.isArray(listed.models) ? listed.models : [];
  const base = models.filter(isObject).find((one) => (one.tool_mode ?? null) === null);
  const kept = Object.entries(base ?? MINIMAL).filter(([key]) => !LEFT_OUT.includes(key));
  const entries = named.map(({ name, displayName, contextSize }, index) => ({
    ...Object.fromEntries(kept),
    ...SET,
    slug: name,
    display_name: displayName,
    description: "A model behind Switchyard.",
    priority: index + 1,
    ...contextSize !== null && { context_window: contextSize, max_context_window: contextSize },
  }));
  return {
    text: `${JSON.stringify({ models: entries }, null, 2)}\n`,
    isMinimal: base === undefined,
  };
}
