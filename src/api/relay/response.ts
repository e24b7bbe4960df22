import { isObject, type JsonObject, parseJson } from "../../core/json/json.ts";
import { invalidResponse, success } from "../../core/failure/result.ts";
import type { Outcome } from "../../core/stream/stream.ts";
import type { FixedResponseHandler, ResponseHandler, WholeHandler } from "../../call/inference.ts";
import { providerError } from "../../wires/openai/errors.ts";
import { utf8Text } from "../../formats/utf8.ts";
import {
  isJsonType,
  isResponseList,
  jsonHeaders,
  parseResponseDocument,
} from "../stored/response_document.ts";
import type { RelayedRequest } from "./request.ts";
import { newRelayStream } from "./relay_stream.ts";
import type { RoutedEndpoint } from "./table.ts";
import { subtitledSeconds } from "./subtitles.ts";
import { relayedUnits, relayedUsage } from "./usage.ts";

const EVENT_STREAM = "text/event-stream", HTML = "text/html";

/** Largest record of a stream: a whole image in base64. */
const MAX_RECORD_BYTES = 32 * 1024 * 1024;

/**
 * Returns the handler of a relayed response, which its content type chooses: an event stream is
 * checked for its end, JSON is parsed, and any other content is passed on if the endpoint has such
 * responses. No endpoint has pages: bytes called `text/html` are a fault. Texts are not, because
 * whisper.cpp calls its transcriptions so.
 */
export function relayedHandler(
  endpoint: RoutedEndpoint,
  request: RelayedRequest,
): ResponseHandler {
  return {
    kind: "by_type",
    choose(contentType, isDelimited): FixedResponseHandler {
      if (contentType === EVENT_STREAM && endpoint.ends !== null) {
        return {
          kind: "stream",
          translation: newRelayStream({ ...endpoint, ends: endpoint.ends, isDelimited }, request),
          copiesHeaders: true,
          copiesStatus: true,
          maxRecordBytes: MAX_RECORD_BYTES,
          needed: ["type", ...NEEDED],
        };
      }
      const isJson = isJsonType(contentType);
      if (isJson && endpoint.answer === "text" && request.wantsText) {
        return transcriptHandler(endpoint, request);
      }
      if (isJson || endpoint.answer === "json" || endpoint.answer === "list") {
        return wholeHandler(endpoint, request);
      }
      if (endpoint.answer === "text") return textHandler(endpoint, request);
      if (contentType === HTML) return PAGE_HANDLER;
      return { kind: "bytes", outcome: outcomeOf(endpoint, request, {}) };
    },
  };
}

/** Members of a response on which its outcome depends. */
const NEEDED = ["error", "usage", "data", "duration", "segments"];

/** Reads a JSON response and returns its bytes. An error under status 200 is a fault. */
function wholeHandler(endpoint: RoutedEndpoint, request: RelayedRequest): WholeHandler {
  const isListed = endpoint.answer === "list";
  return {
    kind: "whole",
    // The text of completions is counted if the provider reports no tokens, and a list has no
    // members.
    ...endpoint.operation !== "text_completion" && !isListed && { needed: NEEDED },
    read(response) {
      const document = response.outline ? null : parseResponseDocument(response);
      if (document?.ok === false && !(isListed && isResponseList(response))) return document;
      const value = response.outline?.value ?? (document?.ok === true ? document.value.value : {});
      if (isObject(value.error)) return providerError(value);
      const images = response.outline?.lengths.get("data");
      return success({
        response: { status: response.status, headers: jsonHeaders(response), body: response.body },
        outcome: outcomeOf(endpoint, request, value, images),
      });
    },
  };
}

const PLAIN_TEXT = "text/plain; charset=utf-8";

/**
 * Reads a response in JSON to a request for a transcript as text, which some servers call JSON and
 * others write as a string.
 */
function transcriptHandler(endpoint: RoutedEndpoint, request: RelayedRequest): WholeHandler {
  const json = wholeHandler(endpoint, request);
  const text = textHandler(endpoint, request);
  return {
    kind: "whole",
    read(response) {
      const value = parseJson(utf8Text(response.body) ?? "");
      if (isObject(value)) return json.read(response);
      if (typeof value === "string") return text.read(response);
      const headers = () => ({ ...response.headers(), "content-type": PLAIN_TEXT });
      return text.read({ ...response, headers });
    },
  };
}

/** Reads a page that a proxy or a sign-in sends with status 200 in place of the bytes. */
const PAGE_HANDLER: WholeHandler = {
  kind: "whole",
  read: () => invalidResponse("The provider's response is an HTML page."),
};

/** Returns the bytes of a text, such as subtitles, which may be empty. */
function textHandler(endpoint: RoutedEndpoint, request: RelayedRequest): WholeHandler {
  return {
    kind: "whole",
    read(response) {
      const duration = request.hasSubtitles ? subtitledSeconds(response.body) : null;
      return success({
        response: {
          status: response.status,
          headers: { "content-type": PLAIN_TEXT, ...response.headers() },
          body: response.body,
        },
        outcome: outcomeOf(endpoint, request, { duration }),
      });
    },
  };
}

function outcomeOf(
  { billed }: RoutedEndpoint,
  { characters }: RelayedRequest,
  value: JsonObject,
  images = Array.isArray(value.data) ? value.data.length : 0,
): Outcome {
  const units = relayedUnits(billed, { value, images, characters });
  return { resource: null, usage: relayedUsage(value), ...units !== null && { units } };
}
