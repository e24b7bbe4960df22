import { isObject, type JsonObject, type JsonValue, numberOf } from "../core/json/json.ts";
import { thinksBeforeCalls } from "./model_behaviour.ts";
import { extraInputErrors, words } from "./field_checks.ts";

// Messages API, create: unknown fields are refused.
const FIELDS = words(
  "model messages max_tokens system stream stop_sequences temperature top_p top_k " +
    "metadata service_tier tools tool_choice thinking output_config cache_control container " +
    "inference_geo speed diagnostics",
);
const BETA_FIELDS = words(
  "mcp_servers context_management fallbacks compaction output_format safeguards " +
    "fallback_credit_token thread billing_policy tags",
);
// Messages API, token counting: fields of create that a count does not have.
const UNCOUNTED = words(
  "max_tokens stream stop_sequences temperature top_p top_k metadata service_tier " +
    "container inference_geo diagnostics fallbacks safeguards fallback_credit_token thread " +
    "billing_policy tags",
);
const BETAS = words(
  "interleaved-thinking-2025-05-14 context-1m-2025-08-07 files-api-2025-04-14 " +
    "fast-mode-2026-02-01 context-management-2025-06-27 output-300k-2026-03-24 " +
    "prompt-caching-2024-07-31 pdfs-2024-09-25 token-counting-2024-11-01 " +
    "token-efficient-tools-2025-02-19 extended-cache-ttl-2025-04-11 " +
    "structured-outputs-2025-11-13 claude-code-20250219 " +
    "fine-grained-tool-streaming-2025-05-14 advanced-tool-use-2025-11-20 effort-2025-11-24 " +
    "prompt-caching-scope-2026-01-05 afk-mode-2026-01-31 mid-conversation-system-2026-04-07 " +
    "thinking-token-count-2026-05-13 fallback-credit-2026-06-01 per-turn-control-2026-07-01 " +
    "mid-conversation-tool-changes-2026-07-01 thinking-display-updates-2026-08-18 " +
    "dangerous-tool-use-2026-09-03",
);
const OLD_VERSION = "2023-06-01";
const NEW_VERSION = "2026-10-21";

/** Yields the errors in the request headers (Messages API, versions and beta headers). */
export function* headerErrors(headers: Headers): Generator<string> {
  const version = headers.get("anthropic-version");
  if (version === null) yield "anthropic-version: header is required";
  if (version !== OLD_VERSION && version !== NEW_VERSION) {
    yield `anthropic-version: "${version}" is not a valid version`;
  }
  for (const beta of parseBetas(headers)) {
    if (!BETAS.includes(beta)) {
      yield `Unexpected value(s) \`${beta}\` for the anthropic-beta header`;
    }
  }
}

function parseBetas(headers: Headers): readonly string[] {
  const list = headers.get("anthropic-beta");
  return list === null ? [] : list.split(",").map((name) => name.trim());
}

/**
 * Yields the errors in the fields of a body, except its messages and tools (Messages API, create).
 */
export function* messagesFieldErrors(body: JsonObject, headers: Headers): Generator<string> {
  yield* extraInputErrors(body, knownFields(headers));
  yield* modelErrors(body);
  const { max_tokens: maxTokens, stream, service_tier: tier } = body;
  if (maxTokens === undefined) yield "max_tokens: Field required";
  if (!isNonNegativeInteger(maxTokens)) {
    yield "max_tokens: Input should be a valid integer of at least 0";
  }
  if (stream !== undefined && typeof stream !== "boolean") {
    yield "stream: Input should be a valid boolean";
  }
  if (tier !== undefined && tier !== "auto" && tier !== "standard_only") {
    yield "service_tier: Input should be 'auto' or 'standard_only'";
  }
  yield* systemErrors(body.system);
  yield* stopErrors(body.stop_sequences);
  yield* metadataErrors(body.metadata);
  yield* samplingErrors(body, headers.get("anthropic-version") === NEW_VERSION);
  yield* thinkingErrors(body, hasBeta(headers));
  const { thinking } = body;
  if (
    isObject(thinking) && (numberOf(thinking.budget_tokens) ?? -1) >= (numberOf(maxTokens) ?? 0)
  ) {
    yield "`max_tokens` must be greater than `thinking.budget_tokens`";
  }
  yield* unthinkingErrors(body);
}

/** Yields the error of a model that always thinks, which does so with these efforts. */
function* unthinkingErrors({ model, thinking, output_config: config }: JsonObject) {
  const isOff = isObject(thinking) && thinking.type === "disabled";
  const isHigh = isObject(config) && (config.effort === "xhigh" || config.effort === "max");
  if (isOff && isHigh && typeof model === "string" && thinksBeforeCalls(model)) {
    yield "thinking.type: 'disabled' is not supported with effort 'xhigh' or 'max'";
  }
}

/** Yields the errors in the fields of a token count (Messages API, token counting). */
export function* countFieldErrors(body: JsonObject, headers: Headers): Generator<string> {
  yield* extraInputErrors(body, knownFields(headers).filter((key) => !UNCOUNTED.includes(key)));
  yield* modelErrors(body);
  yield* systemErrors(body.system);
  yield* thinkingErrors(body, hasBeta(headers));
}

/** True if a request has a beta header, with which beta fields are known. */
export function hasBeta(headers: Headers): boolean {
  return parseBetas(headers).length > 0;
}

function knownFields(headers: Headers): readonly string[] {
  return hasBeta(headers) ? [...FIELDS, ...BETA_FIELDS] : FIELDS;
}

function* modelErrors({ model }: JsonObject): Generator<string> {
  if (typeof model !== "string" || model === "" || model.length > 256) {
    yield "model: Field required, a string of 1 to 256 characters";
  }
}

function isNonNegativeInteger(value: JsonValue | undefined): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

function* systemErrors(system: JsonValue | undefined): Generator<string> {
  if (system === undefined) return;
  if (typeof system === "string") {
    if (system !== "" && system.trim() === "") {
      yield "system: text must contain non-whitespace text";
    }
    return;
  }
  const fits = Array.isArray(system) &&
    system.every((block) =>
      isObject(block) && block.type === "text" && typeof block.text === "string" &&
      block.text !== ""
    );
  if (!fits) yield "system: Input should be a string or text blocks with non-empty text";
}

function* stopErrors(stops: JsonValue | undefined): Generator<string> {
  if (stops === undefined) return;
  if (!Array.isArray(stops)) return yield "stop_sequences: Input should be a valid list";
  for (const stop of stops) {
    if (typeof stop !== "string" || stop.trim() === "") {
      yield "stop_sequences: each stop sequence must contain non-whitespace";
    }
  }
}

function* metadataErrors(metadata: JsonValue | undefined): Generator<string> {
  if (metadata === undefined) return;
  if (!isObject(metadata)) return yield "metadata: Input should be an object";
  for (const [key, value] of Object.entries(metadata)) {
    if (key !== "user_id") yield `metadata.${key}: Extra inputs are not permitted`;
    const fits = value === null || typeof value === "string" && value.length <= 256;
    if (!fits) yield "metadata.user_id: String should have at most 256 characters";
  }
}

function* samplingErrors(body: JsonObject, removed: boolean): Generator<string> {
  for (const key of ["temperature", "top_p", "top_k"]) {
    const value = body[key];
    if (value === undefined) continue;
    if (removed) yield `${key}: Extra inputs are not permitted`;
    const max = key === "top_k" ? Infinity : 1;
    if (typeof value !== "number" || value < 0 || value > max) {
      yield `${key}: Input should be a number from 0 to ${max}`;
    }
    if (key === "top_k" && !Number.isInteger(value)) yield "top_k: Input should be an integer";
  }
}

function* thinkingErrors(body: JsonObject, beta: boolean): Generator<string> {
  const { thinking, temperature, top_p: topP, top_k: topK } = body;
  if (thinking === undefined) return;
  if (!isObject(thinking)) return yield "thinking: Input should be an object";
  const { type, budget_tokens: budget, display } = thinking;
  const displays = [undefined, "summarized", "omitted", ...beta ? ["updates"] : []];
  if (!displays.some((one) => one === display)) {
    yield "thinking.display: Input should be 'summarized' or 'omitted'";
  }
  if (type === "adaptive" || type === "disabled" || type === "between_tools") return;
  if (type !== "enabled") return yield "thinking.type: Input should be a known type";
  if (typeof budget !== "number" || !Number.isInteger(budget) || budget < 1024) {
    return yield "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
  }
  if (temperature !== undefined && temperature !== 1) {
    yield "`temperature` may only be set to 1 when thinking is enabled";
  }
  if (typeof topP === "number" && topP < 0.95) {
    yield "`top_p` must be at least 0.95 when thinking is enabled";
  }
  if (topK !== undefined) yield "`top_k` must be unset when thinking is enabled";
}
