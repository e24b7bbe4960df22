import { isObject, type JsonObject, type JsonValue, parseJson } from "../core/json/json.ts";
import { COMPAT } from "./compat.ts";
import { hashText } from "./hash.ts";
import { newApiError, type Protocol, type SimRequest, type StreamChunk } from "./protocol.ts";

/** How a simulated host differs from the plain compat protocol. */
interface HostRules {
  /** Returns what the host refuses in a request, in its words; null if it takes the request. */
  refuse(body: JsonObject, request: SimRequest): string | null;
  /** Changes an assistant message, or the delta of one, as the host writes it. */
  message?(message: JsonObject, request: SimRequest, calls: number): JsonObject;
  /** Changes the usage as the host writes it. */
  usage?(usage: JsonObject): JsonObject;
  /** True if an error is in a list. */
  readonly listsErrors?: true;
}

/** Members of a message that Groq takes. */
const GROQ_MEMBERS = ["role", "content", "name", "tool_calls", "tool_call_id", "function_call"];

/** Members of a tool call that Groq takes. */
const GROQ_CALL_MEMBERS = ["id", "type", "index", "function"];

/** Keywords that the Gemini API knows in the parameters of a function. */
const GEMINI_WORDS = [
  "type",
  "format",
  "description",
  "nullable",
  "enum",
  "items",
  "properties",
  "required",
  "anyOf",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "pattern",
];

const HOSTS: Readonly<Record<string, HostRules>> = {
  gemini: {
    listsErrors: true,
    refuse: (body, request) => unknownWord(body) ?? unsignedCall(body, request),
    message: (message, request, calls) =>
      changedCalls(
        message,
        (call, at) =>
          calls + at === 0 && isObject(call.function) && call.function.name !== undefined
            ? { ...call, extra_content: signatureOf(call.function.name, request) }
            : call,
      ),
  },
  deepseek: {
    refuse(body) {
      if (body.max_completion_tokens !== undefined) {
        return "Unknown parameter: 'max_completion_tokens'.";
      }
      const messages = messagesOf(body);
      if (messages.some(({ role }) => role === "developer")) {
        return "unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`";
      }
      const lacks = messages.some(({ tool_calls: calls, reasoning_content: text }) =>
        Array.isArray(calls) && typeof text !== "string"
      );
      return lacks
        ? "The `reasoning_content` in the thinking mode must be passed back to the API."
        : null;
    },
    usage: ({ prompt_tokens_details: _details, ...usage }) => ({
      ...usage,
      prompt_cache_hit_tokens: 3,
      prompt_cache_miss_tokens: Number(usage.prompt_tokens) - 3,
    }),
  },
  openrouter: {
    refuse(body, request) {
      const after = messagesOf(body).findLastIndex(({ role }) => role === "user");
      const open = messagesOf(body).slice(after + 1).filter(({ tool_calls: calls }) =>
        Array.isArray(calls)
      );
      const isKept = open.every(({ reasoning_details: details }) =>
        JSON.stringify(details) === JSON.stringify([detailOf(request)])
      );
      return isKept
        ? null
        : "Provider returned error: thinking blocks must be passed back unchanged";
    },
    message: (message, request, calls) =>
      startsCall(message) && calls === 0
        ? { ...asReasoning(message), reasoning_details: [detailOf(request)] }
        : asReasoning(message),
  },
  groq: {
    refuse(body) {
      if (body.max_tokens !== undefined) return "property 'max_tokens' is deprecated";
      for (const [at, message] of messagesOf(body).entries()) {
        const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : [];
        const name = Object.keys(message).find((one) => !GROQ_MEMBERS.includes(one)) ??
          calls.flatMap(Object.keys).find((one) => !GROQ_CALL_MEMBERS.includes(one));
        if (name !== undefined) {
          return `'messages.${at}' : for 'role:${message.role}' the following must be satisfied` +
            `[('messages.${at}' : property '${name}' is unsupported)]`;
        }
      }
      return null;
    },
    message: (message) => asReasoning(message),
  },
  vllm: {
    refuse(body) {
      const isOld = messagesOf(body).some((message) => message.reasoning_content !== undefined);
      return isOld ? "Extra inputs are not permitted: reasoning_content" : null;
    },
    message: (message) => asReasoning(message),
  },
};

/** The simulated hosts: the compat protocol as each of them has it. */
export const HOST_PROTOCOLS: ReadonlyMap<string, Protocol> = new Map(
  Object.entries(HOSTS).map(([name, rules]) => [name, hostProtocol(rules)] as const),
);

function hostProtocol(rules: HostRules): Protocol {
  const changed = (message: JsonValue | undefined, request: SimRequest, calls: number) =>
    isObject(message) && rules.message !== undefined
      ? rules.message(message, request, calls)
      : message;

  return {
    ...COMPAT,
    parseRequest(body, headers) {
      const parsed = COMPAT.parseRequest(body, headers);
      if ("error" in parsed) return parsed;
      const request = { ...parsed.request, credential: headers.get("authorization") ?? "" };
      const refused = rules.refuse(body, request);
      return refused === null ? { request } : { error: newApiError(refused) };
    },
    ...rules.listsErrors === true && {
      listsErrors: true,
      encodeError: ({ status, message }) => ({
        error: { code: status, message, status: "INVALID_ARGUMENT" },
      }),
    },
    encodeWhole(output, request, deps) {
      const whole = COMPAT.encodeWhole(output, request, deps);
      const choices = Array.isArray(whole.choices) ? whole.choices.filter(isObject) : [];
      return {
        ...withUsage(whole, rules),
        choices: choices.map((choice) => ({
          ...choice,
          message: changed(choice.message, request, 0),
        })),
      };
    },
    encodeStream: (output, request, deps) =>
      changedStream(COMPAT.encodeStream(output, request, deps), request),
  };

  function* changedStream(
    chunks: Iterable<StreamChunk>,
    request: SimRequest,
  ): Generator<StreamChunk> {
    let calls = 0;
    for (const { text, isWord } of chunks) {
      const chunk = parseJson(text.slice("data: ".length).trim());
      if (!isObject(chunk)) {
        yield { text, isWord };
        continue;
      }
      const choices = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : [];
      const written = choices.map((choice) => ({
        ...choice,
        delta: changed(choice.delta, request, calls),
      }));
      calls += choices.filter(({ delta }) => isObject(delta) && startsCall(delta)).length;
      const record = { ...withUsage(chunk, rules), choices: written };
      yield { text: `data: ${JSON.stringify(record)}\n\n`, isWord };
    }
  }
}

function withUsage(body: JsonObject, { usage }: HostRules): JsonObject {
  return usage === undefined || !isObject(body.usage)
    ? body
    : { ...body, usage: usage(body.usage) };
}

function messagesOf({ messages }: JsonObject): readonly JsonObject[] {
  return Array.isArray(messages) ? messages.filter(isObject) : [];
}

function startsCall({ tool_calls: calls }: JsonObject): boolean {
  return Array.isArray(calls) &&
    calls.some((call) =>
      isObject(call) && isObject(call.function) && call.function.name !== undefined
    );
}

function changedCalls(
  message: JsonObject,
  change: (call: JsonObject, at: number) => JsonObject,
): JsonObject {
  const { tool_calls: calls } = message;
  return Array.isArray(calls)
    ? { ...message, tool_calls: calls.filter(isObject).map(change) }
    : message;
}

/** Returns a message with its reasoning as `reasoning`. */
function asReasoning({ reasoning_content: text, ...message }: JsonObject): JsonObject {
  return text === undefined ? message : { ...message, reasoning: text };
}

/** Returns the signed detail of a request: of its account, its model and its last user message. */
function detailOf({ model, prompt, credential = "" }: SimRequest): JsonObject {
  return {
    type: "reasoning.encrypted",
    data: String(hashText(`${credential} ${model} ${prompt}`)),
    index: 0,
  };
}

function signatureOf(name: JsonValue, { model, credential = "" }: SimRequest): JsonObject {
  return { google: { thought_signature: String(hashText(`${credential} ${model} ${name}`)) } };
}

/** Returns the refusal of the first call of an open step without its signature; null if none is. */
function unsignedCall(body: JsonObject, request: SimRequest): string | null {
  const messages = messagesOf(body);
  const after = messages.findLastIndex(({ role }) => role === "user");
  for (const [at, { tool_calls: calls }] of messages.entries()) {
    const first = Array.isArray(calls) ? calls[0] : undefined;
    if (at <= after || !isObject(first) || !isObject(first.function)) continue;
    const { name = null } = first.function;
    const { google } = isObject(first.extra_content) ? first.extra_content : {};
    const signature = isObject(google) ? google.thought_signature : undefined;
    if (signature === undefined) {
      return "Function call is missing a thought_signature in functionCall parts. This is required for " +
        `tools to work correctly. function call \`default_api:${name}\`, position ${at + 1}.`;
    }
    const own = signatureOf(name, request).google;
    const isOwn = isObject(own) && own.thought_signature === signature;
    if (!isOwn && signature !== "skip_thought_signature_validator") {
      return "Corrupted thought signature.";
    }
  }
  return null;
}

/** Returns the refusal of the first keyword in parameters that Gemini does not know. */
function unknownWord({ tools }: JsonObject): string | null {
  const all = Array.isArray(tools) ? tools.filter(isObject) : [];
  for (const [at, { function: called }] of all.entries()) {
    const word = isObject(called) ? wordIn(called.parameters ?? null) : null;
    if (word !== null) {
      return `Invalid JSON payload received. Unknown name "${word}" at ` +
        `'request.tools[0].function_declarations[${at}].parameters': Cannot find field.`;
    }
  }
  return null;
}

function wordIn(schema: JsonValue): string | null {
  if (!isObject(schema)) return schema === null ? null : "";
  const word = Object.keys(schema).find((key) => !GEMINI_WORDS.includes(key));
  if (word !== undefined) return word;
  const { type, items = null, properties, anyOf, enum: values } = schema;
  if (type !== undefined && typeof type !== "string") return "type";
  if (Array.isArray(values) && values.some((value) => typeof value !== "string")) return "enum";
  const branches = Array.isArray(anyOf) ? anyOf : [];
  const inner = [items, ...isObject(properties) ? Object.values(properties) : [], ...branches];
  return inner.map((one) => wordIn(one ?? null)).find((found) => found !== null) ?? null;
}
