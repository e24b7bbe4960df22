import type { JsonObject } from "../../core/json/json.ts";
import { typeOf } from "./item_type.ts";
import {
  anyObject,
  byType,
  type Fields,
  flag,
  listOf,
  mapOf,
  number,
  objectOf,
  orNull,
  type Shape,
  text,
  texts,
  whole,
} from "./shape.ts";
import { shellEnvironment, tool } from "./tool_shapes.ts";

const cacheMark: Fields = { prompt_cache_breakpoint: objectOf({ mode: text }) };

const token: Fields = { token: text, logprob: number, bytes: listOf(whole) };

const cited: Fields = { start_index: whole, end_index: whole };

const annotation = byType({
  file_citation: { file_id: text, index: whole, filename: text },
  url_citation: { ...cited, url: text, title: text },
  container_file_citation: { ...cited, container_id: text, file_id: text, filename: text },
  file_path: { file_id: text, index: whole },
});

/** A content part of a message (Responses API, content parts). */
export const part: Shape = byType({
  input_text: { ...cacheMark, text },
  input_image: { ...cacheMark, image_url: text, file_id: text, detail: text },
  input_file: {
    ...cacheMark,
    file_id: text,
    filename: text,
    file_data: text,
    file_url: text,
    detail: text,
  },
  output_text: {
    text,
    annotations: listOf(annotation),
    logprobs: listOf(objectOf({ ...token, top_logprobs: listOf(objectOf(token)) })),
  },
  refusal: { refusal: text },
  summary_text: { text },
  reasoning_text: { text },
  text: { text },
  computer_screenshot: { image_url: text, file_id: text, detail: text },
});

const textOrParts: Shape = { ...text, ...listOf(part) };

/** Fields of items that are a tool call or the output of a tool call. */
const call: Fields = {
  id: text,
  call_id: text,
  status: text,
  caller: byType({ program: { caller_id: text } }),
};

const computerAction = objectOf({
  type: text,
  button: text,
  x: whole,
  y: whole,
  scroll_x: whole,
  scroll_y: whole,
  keys: orNull(texts),
  path: listOf(objectOf({ x: whole, y: whole })),
  text,
});

const safetyChecks = listOf(objectOf({ id: text, code: text, message: text }));

const hosted: Fields = { id: text, status: text };

const ITEMS: Readonly<Record<string, Fields>> = {
  message: { id: text, role: text, status: text, phase: text, content: textOrParts },
  function_call: { ...call, namespace: text, name: text, arguments: text },
  function_call_output: { ...call, namespace: text, name: text, output: textOrParts },
  custom_tool_call: { ...call, namespace: text, name: text, input: text },
  custom_tool_call_output: { ...call, output: textOrParts },
  reasoning: {
    id: text,
    status: text,
    encrypted_content: text,
    summary: listOf(part),
    content: listOf(part),
  },
  compaction: { id: text, encrypted_content: text },
  item_reference: { id: text },
  additional_tools: { id: text, role: text, tools: listOf(tool) },
  tool_search_call: { ...call, call_id: orNull(text), execution: text, arguments: anyObject },
  tool_search_output: { ...call, call_id: orNull(text), execution: text, tools: listOf(tool) },
  program: { id: text, call_id: text, code: text, fingerprint: text },
  program_output: { id: text, call_id: text, result: text, status: text },
  file_search_call: {
    ...hosted,
    queries: texts,
    results: listOf(objectOf({
      file_id: text,
      text,
      filename: text,
      attributes: mapOf({ string: true, boolean: true, number: "any" }),
      score: number,
    })),
  },
  web_search_call: {
    ...hosted,
    action: byType({
      search: {
        query: text,
        queries: texts,
        sources: listOf(objectOf({ type: text, url: text })),
      },
      open_page: { url: text },
      find_in_page: { url: text, pattern: text },
    }),
  },
  computer_call: {
    ...call,
    action: computerAction,
    actions: listOf(computerAction),
    pending_safety_checks: safetyChecks,
  },
  computer_call_output: {
    ...call,
    output: objectOf({ type: text, image_url: text, file_id: text }),
    acknowledged_safety_checks: safetyChecks,
  },
  code_interpreter_call: {
    ...hosted,
    container_id: text,
    code: orNull(text),
    outputs: orNull(listOf(byType({ logs: { logs: text }, image: { url: text } }))),
  },
  image_generation_call: { ...hosted, result: orNull(text) },
  local_shell_call: {
    ...call,
    action: objectOf({
      type: text,
      command: texts,
      timeout_ms: whole,
      working_directory: text,
      env: mapOf(text),
      user: text,
    }),
  },
  local_shell_call_output: { ...hosted, output: text },
  shell_call: {
    ...call,
    action: objectOf({
      commands: texts,
      timeout_ms: orNull(whole),
      max_output_length: orNull(whole),
    }),
    environment: orNull(shellEnvironment),
  },
  shell_call_output: {
    ...call,
    output: listOf(objectOf({
      stdout: text,
      stderr: text,
      outcome: byType({ exit: { exit_code: whole } }),
    })),
    max_output_length: orNull(whole),
  },
  apply_patch_call: { ...call, operation: objectOf({ type: text, path: text, diff: text }) },
  apply_patch_call_output: { ...call, output: text },
  mcp_list_tools: {
    id: text,
    server_label: text,
    tools: listOf(objectOf({
      name: text,
      description: text,
      input_schema: anyObject,
      annotations: anyObject,
    })),
    error: text,
  },
  mcp_call: {
    ...hosted,
    server_label: text,
    name: text,
    arguments: text,
    output: text,
    approval_request_id: text,
    // Older responses held a string here, and clients send them back.
    error: {
      ...text,
      ...byType({
        mcp_protocol_error: { code: whole, message: text },
        http_error: { code: whole, message: text },
      }),
    },
  },
  mcp_approval_request: { id: text, server_label: text, name: text, arguments: text },
  mcp_approval_response: {
    id: text,
    approval_request_id: text,
    approve: flag,
    reason: text,
  },
};

const known = byType(ITEMS);

/** An input item (Responses API); one of an unknown type may hold anything. */
export const inputItem: Shape = {
  object: (item: JsonObject) => known.object?.(typeOf(item) === "message" ? MESSAGE : item) ?? {},
  types: known.types ?? [],
};

const MESSAGE = { type: "message" };
