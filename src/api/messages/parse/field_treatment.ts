import type { ChatField } from "../../../prompt/chat_fields.ts";
import {
  exact,
  gated,
  ignored,
  lossy,
  refused,
  type Treatment,
  treatmentOf,
  verified,
} from "../../../prompt/field_table.ts";
import type { Wire, WireName } from "../../../wires/wire.ts";
import { MESSAGES_FIELDS, type MessagesField } from "./fields.ts";

/** The Chat field that carries a field, whose treatment by the wire counts too. */
const CHAT_FIELD: Readonly<Partial<Record<MessagesField, ChatField>>> = {
  "model": "model",
  "max_tokens": "max_completion_tokens",
  "messages": "messages",
  "messages[user]": "messages[user]",
  "messages[user].content": "messages[user].content",
  "messages[assistant]": "messages[assistant]",
  "messages[assistant].content": "messages[assistant].content",
  "messages[system]": "messages[system]",
  "messages[system].content": "messages[system].content",
  "messages[].content[text].text": "messages[].content[text].text",
  "messages[user].content[image].source[base64].data": "messages[user].content[image_url]",
  "messages[user].content[image].source[base64].media_type": "messages[user].content[image_url]",
  "messages[user].content[image].source[url].url": "messages[].content[image_url].image_url.url",
  "messages[user].content[document].source[base64].data": "messages[].content[file].file.file_data",
  "messages[user].content[document].source[base64].media_type":
    "messages[].content[file].file.file_data",
  "messages[user].content[tool_result].tool_use_id": "messages[tool].tool_call_id",
  "messages[user].content[tool_result].content": "messages[tool].content",
  "messages[user].content[tool_result].content[text]": "messages[tool].content[text]",
  "messages[user].content[tool_result].content[image]": "messages[tool].content[image_url]",
  "messages[user].content[tool_result].content[document]": "messages[tool].content[file]",
  "messages[assistant].content[thinking].thinking": "messages[assistant].reasoning_content",
  "messages[assistant].content[tool_use].id": "messages[assistant].tool_calls[function].id",
  "messages[assistant].content[tool_use].name":
    "messages[assistant].tool_calls[function].function.name",
  "messages[assistant].content[tool_use].input":
    "messages[assistant].tool_calls[function].function.arguments",
  "system": "messages[system].content",
  "stream": "stream",
  "stop_sequences": "stop",
  "temperature": "temperature",
  "top_p": "top_p",
  "top_k": "top_k",
  "metadata.user_id": "user",
  "service_tier": "service_tier",
  "tools": "tools",
  "tools[custom].name": "tools[function].function.name",
  "tools[custom].description": "tools[function].function.description",
  "tools[custom].input_schema": "tools[function].function.parameters",
  "tools[custom].strict": "tools[function].function.strict",
  "tool_choice[auto]": "tool_choice=auto",
  "tool_choice[any]": "tool_choice=required",
  "tool_choice[tool].name": "tool_choice[function].function.name",
  "tool_choice[none]": "tool_choice=none",
  "tool_choice[auto].disable_parallel_tool_use": "parallel_tool_calls",
  "tool_choice[any].disable_parallel_tool_use": "parallel_tool_calls",
  "tool_choice[tool].disable_parallel_tool_use": "parallel_tool_calls",
};

/** A PDF or an image of a result, which a tool message of Chat cannot hold. */
const MOVED = lossy("the content, in a user message after the results");

const CHECKED = "verified too, if the schema can be checked";

const ONE_CALL = verified("ignored without tools", false);

/** Treatments that depend on the protocol of the target beyond its own table. */
const OF_WIRE: Readonly<Record<WireName, Readonly<Partial<Record<MessagesField, Treatment>>>>> = {
  compat: {
    "messages[user].content[tool_result].content[image]": MOVED,
    "messages[user].content[tool_result].content[document]": MOVED,
  },
  local: {
    "messages[user].content[image].source[url].url": refused,
    "messages[user].content[document].title": lossy("a line before the text"),
    "metadata.user_id": lossy("nothing: it is dropped"),
    "service_tier": ignored,
    "thinking[disabled]": exact,
    "output_config.effort": gated(
      "reasoning_effort",
      "`max` only if `reasoning_effort_levels` has it; `xhigh` is refused",
    ),
    "output_config.format[json_schema].schema": gated("structured_outputs", CHECKED),
    "output_format[json_schema].schema": gated("structured_outputs", CHECKED),
    "tool_choice[auto].disable_parallel_tool_use": ONE_CALL,
    "tool_choice[any].disable_parallel_tool_use": ONE_CALL,
    "tool_choice[tool].disable_parallel_tool_use": ONE_CALL,
  },
  responses: {
    "stop_sequences": verified(undefined, []),
    // A text has no ID that the upstream knows.
    "messages[assistant].content[thinking].thinking": lossy("nothing: it is dropped"),
  },
  // Its targets get the client's own text.
  messages: {},
};

/** Returns the treatment of a request field by the translation to Chat and the wire after it. */
export function translatedTreatment(path: MessagesField, wire: Wire): Treatment {
  const special = OF_WIRE[wire.name][path];
  if (special !== undefined) return special;
  const own = treatmentOf(MESSAGES_FIELDS, path);
  const chat = CHAT_FIELD[path];
  if (chat === undefined) return own;
  const after = treatmentOf(wire.fields, chat);
  if (after.kind === "refused") return refused;
  const notes = [own.note, after.note].filter((note) => note !== undefined);
  const noted = notes.length > 0 && { note: notes.join("; ") };
  return { ...(own.kind === "exact" ? after : own), ...noted };
}
