import { isObject, type JsonObject, type JsonValue, parseJson } from "../../src/core/json/json.ts";

/** Fields that an upstream knows, by the path of the object that holds them. */
type KnownFields = Readonly<Record<string, readonly string[]>>;

/** Chat Completions, create, with what hosts and SDKs add to assistant messages. */
const COMPAT: KnownFields = {
  "": words(
    "model messages stream stream_options store metadata temperature top_p presence_penalty",
    "frequency_penalty n max_tokens max_completion_tokens seed logprobs top_logprobs logit_bias stop",
    "parallel_tool_calls user reasoning_effort verbosity response_format tools tool_choice",
    "functions function_call modalities audio prediction service_tier prompt_cache_key",
    "safety_identifier web_search_options",
  ),
  "messages[]": words(
    "role content name refusal audio annotations tool_calls function_call tool_call_id",
    "reasoning_content parsed provider_specific_fields",
  ),
  "messages[].tool_calls[]": words("id type index function custom"),
  "tools[]": words("type function custom"),
  "tools[].function": words("name description parameters strict"),
};

/**
 * The local API, chat. The runtime ignores other fields, so that one would be lost without a word.
 */
const LOCAL: KnownFields = {
  "": words("model messages tools format options stream keep_alive think"),
  "messages[]": words("role content thinking images tool_calls tool_name tool_call_id"),
  "messages[].tool_calls[]": words("id function"),
  "messages[].tool_calls[].function": words("index name arguments"),
  "tools[]": words("type function"),
  "tools[].function": words("name description parameters"),
};

/** Responses API, create. */
const RESPONSES: KnownFields = {
  "": words(
    "model input instructions stream stream_options store background previous_response_id",
    "conversation metadata temperature top_p max_output_tokens max_tool_calls top_logprobs",
    "parallel_tool_calls truncation include text reasoning tools tool_choice prompt",
    "prompt_cache_key prompt_cache_retention safety_identifier service_tier user client_metadata",
  ),
  "input[]": words(
    "type id status role content phase call_id name namespace arguments output summary",
    "encrypted_content input parsed_arguments tools",
  ),
  "text": words("format verbosity"),
  "reasoning": words("effort summary generate_summary context"),
};

/** Fields by the paths of the simulator; it checks those of the Messages API itself. */
const KNOWN_BY_PATH: Readonly<Record<string, KnownFields>> = {
  "/compat/v1/chat/completions": COMPAT,
  "/compat/v1/responses": RESPONSES,
  "/local/api/chat": LOCAL,
};

/**
 * Returns an upstream that refuses a request with a field that its protocol does not have, and
 * passes every other request on to `upstream`.
 */
export function newJudge(
  upstream: (request: Request) => Promise<Response>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const known = KNOWN_BY_PATH[new URL(request.url).pathname];
    if (known === undefined || request.method !== "POST") return await upstream(request);
    const unknown = unknownField(parseJson(await request.clone().text()) ?? null, known);
    if (unknown === null) return await upstream(request);
    const error = { message: `Unknown field: ${unknown}.`, type: "invalid_request_error" };
    return Response.json({ error }, { status: 400 });
  };
}

/**
 * Returns the path of the first field that is not known, with `[]` for any index; null if all are.
 */
export function unknownField(body: JsonValue, known: KnownFields, path = ""): string | null {
  if (Array.isArray(body)) {
    for (const item of body) {
      const found = unknownField(item, known, `${path}[]`);
      if (found !== null) return found;
    }
    return null;
  }
  return isObject(body) ? unknownMember(body, known, path) : null;
}

function unknownMember(value: JsonObject, known: KnownFields, path: string): string | null {
  const fields = known[path];
  for (const [key, inner] of Object.entries(value)) {
    const at = path === "" ? key : `${path}.${key}`;
    if (fields !== undefined && !fields.includes(key)) return at;
    const found = inner === undefined ? null : unknownField(inner, known, at);
    if (found !== null) return found;
  }
  return null;
}

function words(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(" "));
}
