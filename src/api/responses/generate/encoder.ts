import { Buffer } from "node:buffer";
import { EVENT_BYTES, type EventEncoder } from "../../../core/stream/stream.ts";
import type { FinishReason, StreamEvent, Usage } from "../../../core/stream/events.ts";
import type { Failure } from "../../../core/failure/failure.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import type { StreamRecord } from "../../../core/stream/reply.ts";
import { type CallingReasoning, newReasoningCollector } from "../../../core/stream/reasoning.ts";
import {
  responseEndedEarly,
  responseTooLarge,
  type Result,
  success,
} from "../../../core/failure/result.ts";
import { responseError } from "./error_code.ts";
import type { CalledTool } from "./items.ts";
import type { Signer } from "../../reasoning/host_seals.ts";
import { type Numbering, OPENING_EVENTS } from "./numbering.ts";
import { newOutput } from "./output.ts";
import type { OutputEvent } from "./parts.ts";
import { newResourceBuilder, type ResponseLabels, type ResponseState } from "./resource.ts";

/** Fields of a generated response, and the kind of its reasoning. */
export interface EncoderLabels extends ResponseLabels {
  /** True if the upstream signs its reasoning, and accepts no other reasoning back. */
  readonly isSigned: boolean;
  /** Signer of what the client gets sealed to send it back; null if the host needs nothing back. */
  readonly signer: Signer | null;
  /** The tools of namespaces, by the names that the upstream uses. */
  readonly namespaced: ReadonlyMap<string, CalledTool>;
  /** True if the client may not send the signed reasoning back. */
  readonly storesReasoning: boolean;
  /** Numbers of the events as they are sent. */
  readonly numbering: Numbering;
}

/** Encodes hub events as the records of a generated Responses stream. */
export interface ResponseEncoder extends EventEncoder {
  /** Returns the Response object of the terminal event; null before that event. */
  resource(): JsonObject | null;
  reasoning(): CallingReasoning | null;
}

/** A generated Response object with its token counts. */
export interface WholeResponse {
  readonly resource: JsonObject;
  /** Token counts; null if the upstream reports none. */
  readonly usage: Usage | null;
  /** Reasoning to store for a client that does not send it back; null for none. */
  readonly reasoning: CallingReasoning | null;
}

/** Memory limit of one translated response, in bytes. */
const MAX_STATE_BYTES = 16 * 1024 * 1024;

/**
 * Overhead of one item or part in bytes, counted in addition to its text: objects cost far more.
 */
const PIECE_OVERHEAD_BYTES = 1024;
const PIECE_EVENTS = ["response.output_item.added", "response.content_part.added"];

/**
 * Creates the encoder of a Responses stream, whose records get their numbers when they are sent.
 * The first two records are sent with the first event that has content; items and the terminal
 * event follow. Fails if the upstream ends without a finish reason, calls more than 128 tools, or
 * sends more than 16 MiB. `write` writes the data of a record.
 */
export function newResponseEncoder(
  labels: EncoderLabels,
  write: (event: JsonObject) => string = JSON.stringify,
): ResponseEncoder {
  const output = newOutput({
    isSigned: labels.isSigned,
    signer: labels.signer,
    newId: labels.newId,
    findTool: (name) => labels.namespaced.get(name) ?? { name },
  });
  const made = newResourceBuilder(labels);
  const collector = labels.storesReasoning ? newReasoningCollector() : null;
  let { model } = labels;
  let usage: Usage | null = null;
  let reason: FinishReason | null = null;
  let resource: JsonObject | null = null;
  let size = 0;
  let events = 0;
  let pieces = 0;
  let isBegun = false;
  let isFailed = false;

  function record(event: OutputEvent): StreamRecord {
    const { type, ...members } = event;
    return { event: type, data: write({ type, ...members }), raw: null };
  }

  function begin(): readonly StreamRecord[] {
    if (isBegun) return [];
    isBegun = true;
    return opening();
  }

  function opening(): readonly StreamRecord[] {
    const response = beginning();
    return OPENING_EVENTS.map((type) => record({ type, response }));
  }

  function beginning(): JsonObject {
    return stateOf({ status: "in_progress", output: [], usage: null });
  }

  function stateOf(
    state: Pick<ResponseState, "status"> & Partial<ResponseState>,
  ): JsonObject {
    return made({
      model,
      completedAt: null,
      incompleteReason: null,
      error: null,
      output: output.value(),
      usage,
      ...state,
    });
  }

  function push(event: StreamEvent): Result<readonly StreamRecord[]> {
    collector?.push(event);
    switch (event.type) {
      case "start":
        model = event.model || model;
        break;
      case "usage":
        usage = event.usage;
        break;
      case "finish":
        reason = event.reason;
        break;
      case "reasoning_item":
        output.sign(event.value);
        break;
      case "text":
      case "refusal":
      case "reasoning":
      case "thinking_block":
      case "annotation":
      case "tool_call":
      case "tool_arguments":
        return carry(event);
    }
    return success([]);
  }

  function carry(event: StreamEvent): Result<readonly StreamRecord[]> {
    size += sizeOf(event);
    events += 1;
    if (size > MAX_STATE_BYTES || events * EVENT_BYTES > MAX_STATE_BYTES) return tooLarge();
    const added = output.push(event);
    if (!added.ok || added.value.length === 0) return added.ok ? success([]) : added;
    pieces += added.value.filter(({ type }) => PIECE_EVENTS.includes(type)).length;
    if (pieces * PIECE_OVERHEAD_BYTES > MAX_STATE_BYTES) return tooLarge();
    return success([...begin(), ...added.value.map(record)]);
  }

  function end(): Result<readonly StreamRecord[]> {
    if (resource !== null) return success([]);
    const outcome = reason === null ? null : statusFields(reason);
    if (outcome === null) return responseEndedEarly();
    const { status, incompleteReason } = outcome;
    const last = output.end(status);
    const completedAt = status === "completed" ? labels.unix() : null;
    const ended = stateOf({ status, incompleteReason, completedAt });
    resource = ended;
    const terminal = { type: `response.${status}`, response: resource };
    return success([...begin(), ...last.map(record), record(terminal)]);
  }

  function fail(failure: Failure): readonly StreamRecord[] {
    if (isFailed) return [];
    isFailed = true;
    // They may have been made for a terminal event that was not sent.
    const first = opening();
    const error = responseError(failure);
    resource = stateOf({ status: "failed", error });
    return [...first, record({ type: "response.failed", response: resource })];
  }

  function progress(): StreamRecord {
    return record({ type: "response.in_progress", response: beginning() });
  }

  return {
    keepAlive: () => labels.numbering.sign(progress),
    number: labels.numbering.number,
    push,
    end,
    fail,
    done: () => resource !== null,
    usage: () => usage,
    resource: () => resource,
    reasoning: () => collector?.value() ?? null,
    heldBytes: () =>
      size + events * EVENT_BYTES + pieces * PIECE_OVERHEAD_BYTES + (collector?.heldChars() ?? 0) +
      output.heldChars(),
  };
}

/** Builds the Response object of a complete list of events. Fails like the stream encoder. */
export function encodeResponse(
  events: readonly StreamEvent[],
  labels: EncoderLabels,
): Result<WholeResponse> {
  // No one reads the records, which hold each text four times.
  const encoder = newResponseEncoder(labels, () => "");
  for (const event of events) {
    const step = encoder.push(event);
    if (!step.ok) return step;
  }
  const end = encoder.end();
  if (!end.ok) return end;
  const resource = encoder.resource();
  if (resource === null) return responseEndedEarly();
  return success({ resource, usage: encoder.usage(), reasoning: encoder.reasoning() });
}

function statusFields(
  reason: FinishReason,
): { readonly status: "completed" | "incomplete"; readonly incompleteReason: string | null } {
  switch (reason) {
    case "stop":
    case "tool_calls":
      return { status: "completed", incompleteReason: null };
    case "length":
      return { status: "incomplete", incompleteReason: "max_output_tokens" };
    case "content_filter":
      return { status: "incomplete", incompleteReason: reason };
  }
}

function sizeOf(event: StreamEvent): number {
  switch (event.type) {
    case "text":
    case "refusal":
    case "reasoning":
    case "tool_arguments":
      return Buffer.byteLength(event.delta);
    case "thinking_block":
    case "annotation":
      return Buffer.byteLength(JSON.stringify(event.value));
    case "tool_call":
      return Buffer.byteLength(event.id) + Buffer.byteLength(event.name) +
        Buffer.byteLength(event.arguments ?? "");
    case "start":
    case "usage":
    case "finish":
    case "reasoning_item":
      return 0;
  }
}

function tooLarge(): Result<never> {
  return responseTooLarge(
    "The provider's response is larger than the 16 MiB that can be translated.",
  );
}
