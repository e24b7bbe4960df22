import { jsonBeginning } from "../core/json/json_pieces.ts";
import type { Reply, StreamRecord } from "../core/stream/reply.ts";
import { textBeginning } from "../core/text_beginning.ts";
import { sseText } from "../formats/sse.ts";
import type { Call, Capture } from "../call/call.ts";
import { endpointContent } from "./endpoint_content.ts";
import { recordedHeaders, recordHead, respondedHeaders } from "./head.ts";
import { withoutLogprobs } from "./logprobs.ts";
import { newMask } from "./mask_call.ts";
import { hasOnlyHead, type Selection, selectRecord } from "./select.ts";
import type { WrittenRecord } from "./written_record.ts";

/** Maximum length of a request and of a response in a record. */
export const MAX_BODY_CHARS = 1024 * 1024;

/** Text after which the captured response of a call is counted again. */
const COUNT_INTERVAL_CHARS = 64 * 1024;

/** Receiver of the record of a capture. */
export interface RecordSink {
  /** Counts captured text of a running call; false if there is no room for it. */
  hold(chars: number): boolean;
  release(chars: number): void;
  add(record: WrittenRecord): void;
}

/** Returns the capture of the record of a call. */
export function newRecordCapture(call: Call, sink: RecordSink, wall: () => number): Capture {
  const at = wall();
  let request: string | null = null;
  let url = "";
  let selection: Selection | null | undefined;
  let response = "";
  let kind: "none" | "body" | "events" = "none";
  let heldChars = 0;
  let isDropped = false;

  function select(): Selection | null {
    if (selection !== undefined) return selection;
    const chosen = selectRecord(call);
    const { path } = call.report.endpoint;
    const hasContent = chosen?.kind === "all" && endpointContent(call.method, path).request &&
      request !== null;
    selection = chosen === null || hasContent ? chosen : { ...chosen, kind: "heads" };
    call.report.recorded = selection?.kind ?? null;
    return selection;
  }

  /** True if the response of the call is recorded; an error is text at every endpoint. */
  function takesResponse(): boolean {
    const { endpoint, status } = call.report;
    return select()?.kind === "all" &&
      (status >= 400 || endpointContent(call.method, endpoint.path).response);
  }

  function count(): void {
    const chars = response.length - heldChars;
    if (isDropped || chars < COUNT_INTERVAL_CHARS) return;
    if (sink.hold(chars)) heldChars += chars;
    else {
      isDropped = true;
      response = "";
      sink.release(heldChars);
      heldChars = 0;
    }
  }

  async function* captured(records: AsyncIterable<readonly StreamRecord[]>) {
    for await (const group of records) {
      if (!isDropped && response.length <= MAX_BODY_CHARS) {
        response += sseText(group);
        count();
      }
      yield group;
    }
  }

  /** Returns the record without what exceeds its bounds. */
  function record({ kind: chosen, why }: Selection, { generation }: Call): WrittenRecord {
    const cut: string[] = [];
    const mask = newMask(call);
    // A turn of a WebSocket is routed by the configuration of its handshake.
    const newHead = () => recordHead(call, { mask, why, cut, routedBy: generation.config });
    if (chosen === "heads") return { id: call.id, at, head: newHead() };
    const { json, key, maxChars } = mask.clientKey;
    // Masked before it is cut, and cut before a key that may be only begun, so that no part of one
    // is left.
    const recorded = (text: string, part: "request" | "response") => {
      const taken = text.slice(0, MAX_BODY_CHARS + 1 + maxChars);
      const masked = part === "response" ? withoutLogprobs(json(taken), taken) : json(taken);
      const isCut = text.length > MAX_BODY_CHARS + 1 + maxChars;
      const kept = isCut ? masked.slice(0, masked.length - maxChars) : masked;
      // A label may be longer than the key in whose place it is.
      if (Math.max(text.length, kept.length) > MAX_BODY_CHARS) cut.push(part);
      return textBeginning(kept, MAX_BODY_CHARS);
    };
    const asked = request === null ? null : recorded(request, "request");
    const text = kind === "none" || isDropped ? null : recorded(response, "response");
    if (text === null) cut.push("response");
    return {
      id: call.id,
      at,
      head: newHead(),
      request: {
        headers: recordedHeaders(call, mask),
        query: mask.query(queryOf(url)),
        body: asked,
      },
      response: {
        headers: respondedHeaders(call, mask),
        body: kind === "body" ? text : null,
        events: kind === "events" ? text : null,
      },
      ...kind === "events" && key !== "" && { clientKey: key },
    };
  }

  const take = (text: string, address?: string) => {
    request = text;
    url = address ?? url;
  };

  return {
    request: take,
    unparsed: take,
    upstreamRequest() {},
    reply<Kind extends Reply>(reply: Kind): Kind {
      // A response of another kind than text has no place in a record.
      if (!takesResponse() || reply.kind === "bytes") return reply;
      if (reply.kind === "stream") {
        kind = "events";
        return { ...reply, records: captured(reply.records) };
      }
      kind = "body";
      response = reply.kind === "whole"
        ? new TextDecoder().decode(reply.response.body.subarray(0, 3 * MAX_BODY_CHARS + 1))
        : jsonBeginning(reply.value, MAX_BODY_CHARS);
      count();
      return reply;
    },
    end(ended) {
      sink.release(heldChars);
      // The handshake of a WebSocket is a call; its turns have the records.
      const chosen = call.report.status === 101 ? null : select();
      if (chosen === null) return;
      // A rule may refuse a stream whose beginning was captured.
      const kind = hasOnlyHead(call.report) ? "heads" : chosen.kind;
      call.report.recorded = kind;
      sink.add(record({ ...chosen, kind }, ended));
    },
  };
}

/** Returns the query of a URL, without its question mark. */
function queryOf(url: string): string {
  const mark = url.indexOf("?");
  return mark < 0 ? "" : url.slice(mark + 1);
}
