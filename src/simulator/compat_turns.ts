import { isObject, type JsonObject, type JsonValue } from "../core/json.ts";
import { invalid } from "./checks.ts";
import { complain, type Complaint } from "./voice.ts";

const PARTS: ReadonlyMap<string, readonly string[]> = new Map([
  ["developer", ["text"]],
  ["system", ["text"]],
  ["user", ["text", "image_url", "input_audio", "file"]],
  ["assistant", ["text", "refusal"]],
  ["tool", ["text"]],
  ["function", []],
]);

/** The messages that are wrong, each by itself and in their order (Chat Completions, messages). */
export function* turnComplaints(messages: JsonValue | undefined): Generator<Complaint> {
  if (!Array.isArray(messages) || messages.length === 0) {
    return yield invalid("messages", "messages must be an array of at least one message.");
  }
  const open = new Set<string>();
  for (const [at, message] of messages.entries()) {
    const path = `messages[${at}]`;
    if (!isObject(message)) return yield invalid(path, "A message must be an object.");
    yield* messageComplaints(message, path);
    if (message.role === "tool") {
      if (typeof message.tool_call_id !== "string" || !open.delete(message.tool_call_id)) {
        yield invalid(path, "A tool message must answer a preceding message with tool_calls.");
      }
      continue;
    }
    if (open.size > 0) yield unanswered(path);
    for (const call of callsOf(message)) open.add(call);
  }
  if (open.size > 0) yield unanswered("messages");
}

function unanswered(path: string): Complaint {
  return complain("Each of tool_calls must be answered by a tool message.", { param: path });
}

function callsOf(message: JsonObject): readonly string[] {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  return calls.flatMap((call) => isObject(call) && typeof call.id === "string" ? [call.id] : []);
}

function* messageComplaints(message: JsonObject, path: string): Generator<Complaint> {
  const { role, content, tool_calls: calls } = message;
  const parts = typeof role === "string" ? PARTS.get(role) : undefined;
  if (parts === undefined) return yield invalid(`${path}.role`, "This role is unknown.");
  if (calls !== undefined && (!Array.isArray(calls) || !calls.every(isCall))) {
    yield invalid(`${path}.tool_calls`, "tool_calls must be an array of calls.");
  }
  if (Array.isArray(content)) {
    const fits = content.length > 0 && content.every((part) => isPart(part, parts));
    if (!fits) yield invalid(`${path}.content`, "A part of the content is wrong for this role.");
  } else if (typeof content !== "string" && !mayLackContent(message)) {
    yield invalid(`${path}.content`, "content must be a string or an array of parts.");
  }
}

function mayLackContent({ role, content, tool_calls, function_call, refusal }: JsonObject) {
  if (content !== null && content !== undefined) return false;
  if (role === "function") return true;
  return role === "assistant" && (Array.isArray(tool_calls) || isObject(function_call) ||
    typeof refusal === "string");
}

function isCall(call: JsonValue): boolean {
  if (!isObject(call) || typeof call.id !== "string") return false;
  const { type, function: called, custom } = call;
  if (type === "custom") return isObject(custom) && typeof custom.input === "string";
  return type === "function" && isObject(called) && typeof called.name === "string" &&
    typeof called.arguments === "string";
}

function isPart(part: JsonValue, allowed: readonly string[]): boolean {
  if (!isObject(part) || typeof part.type !== "string" || !allowed.includes(part.type)) {
    return false;
  }
  const { type, text, refusal, image_url: image, input_audio: audio, file } = part;
  if (type === "text") return typeof text === "string";
  if (type === "refusal") return typeof refusal === "string";
  if (type === "image_url") return isObject(image) && typeof image.url === "string";
  return type === "input_audio"
    ? isObject(audio) && typeof audio.data === "string" && typeof audio.format === "string"
    : isObject(file);
}
