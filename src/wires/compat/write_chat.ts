import { isObject, type JsonObject, type JsonValue, parseJson } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import {
  type AssistantTurn,
  callId,
  type Choice,
  type ChosenTool,
  type Content,
  type Format,
  type GivenSchema,
  type Message,
  type Part,
  type Prompt,
  type Tool,
  type ToolCall,
} from "../../prompt/prompt.ts";
import { BRIDGED_PARAMETERS } from "../../prompt/bridge_custom_tools.ts";
import { profileOf } from "../../data/hosts.ts";
import { type Entry, parseMembers } from "../../formats/edit.ts";
import { adaptToHost, type LostPlace } from "./adapt_to_host.ts";
import { promiseChanged } from "./changed_schemas.ts";
import { returnsSigned } from "./host_reasoning.ts";
import { samplingDefaults } from "../sampling.ts";
import { newPayload } from "../payload.ts";
import type { Encoding, UpstreamRequest } from "../wire.ts";

/** JSON texts of the members of an object; absent members are undefined. */
type Texts = Readonly<Record<string, string | undefined>>;

/**
 * Returns a prompt of another client API as a Chat request. Chat has a place for everything that
 * these can say, so that no field is refused. The own text of a Chat client is edited instead.
 */
export function encodePrompt(prompt: Prompt, encoding: Encoding): Result<UpstreamRequest> {
  const { target, carrier } = encoding;
  for (const message of prompt.messages) {
    const signed = message.kind === "assistant" ? message.signed : null;
    if (signed === null || message.kind !== "assistant" || returnsSigned(message, target)) continue;
    carrier.lose(signed.at.path);
  }
  const adapted: Result<Written> = target.provider.settings.compatibility_profile === undefined
    ? success({ write: () => writeChat(prompt, encoding) })
    : writeAdapted(prompt, encoding);
  if (!adapted.ok) return adapted;
  const { write, ...numbered } = adapted.value;
  return success({
    method: "POST",
    path: "/chat/completions",
    payload: newPayload(write),
    ...carrier.done(),
    ...numbered,
  });
}

/** The text of a request, with what is done with its response. */
interface Written extends Pick<UpstreamRequest, "numbered"> {
  readonly write: () => string;
}

/** Returns the text of a request as the profile of its provider wants it. */
function writeAdapted(prompt: Prompt, encoding: Encoding): Result<Written> {
  const { target, carrier } = encoding;
  const text = writeChat(prompt, encoding);
  const value = parseJson(text);
  const document = { text, value: isObject(value) ? value : {}, members: parseMembers(text) };
  const adapted = adaptToHost(
    {
      document,
      storedAt(index) {
        const message = prompt.messages[index];
        return message?.kind === "assistant" ? message.stored : null;
      },
      pathOf: (place) => pathIn(prompt, place),
      lose: carrier.lose,
    },
    target,
    carrier,
  );
  if (!adapted.ok) return adapted;
  const { numbered, strict = [] } = adapted.value;
  const changed = strict.flatMap((index) => {
    const tool = prompt.tools[index];
    return tool?.kind === "function" ? [tool] : [];
  });
  const refused = promiseChanged(changed, carrier.lose, encoding);
  return refused ?? success({
    write: () => adapted.value.document.text,
    ...numbered !== undefined && { numbered },
  });
}

function pathIn({ messages, tools, at }: Prompt, place: LostPlace): string | null {
  if (place.kind === "schema") {
    const tool = tools[place.tool];
    if (tool?.kind === "function" && tool.parameters.value === BRIDGED_PARAMETERS) return null;
    const parameters = tool?.kind === "function" ? tool.parameters.at : tool?.at;
    return `${parameters?.path ?? at.path}${place.below}`;
  }
  const message = messages[place.message];
  if (message?.kind !== "assistant") return message?.at.path ?? at.path;
  const field = place.kind === "call"
    ? message.calls[place.call]?.at
    : place.name === "refusal"
    ? message.refusal?.at
    : message.reasoning?.at;
  return (field ?? message.at).path;
}

function writeChat(prompt: Prompt, { target, chatOrder = [] }: Encoding): string {
  const { model, provider } = target;
  const { sampling, limits, labels, tools } = prompt;
  const { cacheMarks } = profileOf(provider.settings.compatibility_profile);
  const isMarked = cacheMarks?.test(model) ?? false;
  const { normalize_developer_role: isNormalized } = provider.settings;
  const fields: Texts = {
    model: json(model),
    max_completion_tokens: json((limits.completion ?? limits.legacy)?.exact),
    stream: prompt.stream ? "true" : undefined,
    // The gateway counts the usage of every stream.
    stream_options: prompt.stream ? '{"include_usage":true}' : undefined,
    reasoning_effort: json(prompt.effort?.value),
    temperature: json(sampling.temperature?.exact),
    top_p: json(sampling.topP?.exact),
    top_k: json(sampling.topK?.exact),
    presence_penalty: json(sampling.presencePenalty?.exact),
    frequency_penalty: json(sampling.frequencyPenalty?.exact),
    seed: json(sampling.seed?.exact),
    stop: json(prompt.stop?.value.map(({ value }) => value)),
    user: json(labels.user?.value),
    safety_identifier: json(labels.safetyIdentifier?.value),
    service_tier: json(labels.serviceTier?.value),
    prompt_cache_key: json(labels.cacheKey),
    prompt_cache_retention: json(labels.cacheRetention),
    prompt_cache_options: json(labels.cacheOptions),
    verbosity: json(prompt.verbosity?.value),
    response_format: prompt.format === null ? undefined : writeFormat(prompt.format),
    tool_choice: json(chatChoice(prompt.choice)),
    parallel_tool_calls: json(prompt.parallelCalls?.value),
    messages: list(
      prompt.messages.map((message) => json(chatMessage(message, { isNormalized, isMarked }))),
    ),
    tools: tools.length === 0 ? undefined : list(tools.map(writeTool)),
  };
  const given = { temperature: sampling.temperature?.exact, top_p: sampling.topP?.exact };
  const first = chatOrder.map((key) => [key, fields[key]]);
  return object(
    { ...Object.fromEntries(first), ...fields },
    samplingDefaults(given, provider),
  );
}

function json(value: JsonValue | undefined): string | undefined {
  return value === undefined || value === null ? undefined : JSON.stringify(value);
}

// Texts are concatenated and not joined, which would copy a long one at each level: the engine
// copies concatenated ones once, when the request is encoded.
function list(texts: readonly (string | undefined)[]): string {
  let written = "";
  for (const text of texts) written += `${written === "" ? "" : ","}${text ?? ""}`;
  return `[${written}]`;
}

function object(members: Texts, added: readonly Entry[] = []): string {
  let written = "";
  for (const [key, text] of [...added, ...Object.entries(members)]) {
    if (text === undefined) continue;
    written += `${written === "" ? "" : ","}${JSON.stringify(key)}:${text}`;
  }
  return `{${written}}`;
}

/** How messages are written for a provider. */
interface MessageForm {
  /** True if `developer` messages become `system` messages. */
  readonly isNormalized: boolean;
  /** True if parts keep the `cache_control` of Messages clients. */
  readonly isMarked: boolean;
}

function chatMessage(message: Message, form: MessageForm): JsonObject {
  switch (message.kind) {
    case "instruction":
      return {
        role: form.isNormalized ? "system" : message.role,
        content: chatContent(message.content, form),
      };
    case "user":
      return { role: "user", content: chatContent(message.content, form) };
    case "assistant":
      return assistantMessage(message, form);
    case "result": {
      const { callId, name, content } = message;
      return callId === null
        ? { role: "function", name: name?.value ?? "", content: chatContent(content, form) }
        : { role: "tool", tool_call_id: callId.value, content: chatContent(content, form) };
    }
  }
}

function assistantMessage(
  { content, reasoning, refusal, calls }: AssistantTurn,
  form: MessageForm,
): JsonObject {
  return {
    role: "assistant",
    content: content === null ? null : chatContent(content, form),
    ...reasoning !== null && { reasoning_content: reasoning.value },
    ...refusal !== null && { refusal: refusal.value },
    ...calls.length > 0 && { tool_calls: calls.map(chatCall) },
  };
}

function chatCall(call: ToolCall): JsonObject {
  const { kind, name, text: { value } } = call;
  const id = callId(call);
  return kind === "function"
    ? { id, type: kind, function: { name, arguments: value } }
    : { id, type: kind, custom: { name, input: value } };
}

function chatContent({ isString, parts }: Content, { isMarked }: MessageForm): JsonValue {
  const [first] = parts;
  return isString && first?.kind === "text" ? first.text : parts.map((part) => {
    const { cache } = part;
    const mark = isMarked && cache?.ok === true ? { cache_control: cache.value.value } : {};
    return { ...chatPart(part), ...mark };
  });
}

function chatPart(part: Part): JsonObject {
  switch (part.kind) {
    case "text":
      return { type: "text", text: part.text };
    case "refusal":
      return { type: "refusal", refusal: part.text };
    case "image": {
      const { url, detail } = part;
      return {
        type: "image_url",
        image_url: { url: url.value, ...detail !== null && { detail: detail.value } },
      };
    }
    case "file": {
      const { id, data, name } = part;
      return {
        type: "file",
        file: {
          ...id !== null && { file_id: id.value },
          ...data !== null && { file_data: data.value },
          ...name !== null && { filename: name.value },
        },
      };
    }
  }
}

function writeTool(tool: Tool): string {
  const { kind, name, description } = tool;
  const own = { name: json(name.value), description: json(description) };
  const members = kind === "function"
    ? { ...own, parameters: schemaText(tool.parameters), strict: json(tool.strict?.value) }
    : { ...own, format: json(customFormat(tool.format)) };
  return object({ type: json(kind), [kind]: object(members) });
}

function customFormat(format: (Tool & { readonly kind: "custom" })["format"]): JsonObject | null {
  return format?.kind === "grammar"
    ? { type: "grammar", grammar: { definition: format.definition.value, syntax: format.syntax } }
    : format && { type: "text" };
}

function schemaText({ value, text }: GivenSchema<JsonObject | null>): string | undefined {
  return text ?? json(value);
}

function chatChoice(choice: Choice): JsonValue {
  switch (choice.kind) {
    case "unset":
      return null;
    case "named":
      return chatChosen(choice.tool);
    case "allowed": {
      const { mode, tools } = choice;
      return { type: "allowed_tools", allowed_tools: { mode, tools: tools.map(chatChosen) } };
    }
    default:
      return choice.kind;
  }
}

function chatChosen({ kind, name }: ChosenTool): JsonObject {
  return { type: kind, [kind]: { name } };
}

function writeFormat(format: Format): string {
  if (format.kind !== "json_schema") return object({ type: json(format.kind) });
  const { kind, name, description, schema, strict } = format;
  return object({
    type: json(kind),
    json_schema: object({
      name: json(name?.value),
      description: json(description?.value),
      schema: schemaText(schema),
      strict: json(strict?.value),
    }),
  });
}
