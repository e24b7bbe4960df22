import type { JsonDocument } from "../../core/json/json.ts";
import { refuse, type Result, success } from "../../core/failure/result.ts";
import { changeMembers, splice } from "../../formats/edit.ts";
import { formText, type MultipartBody, withModel } from "../../formats/multipart.ts";
import { newPayload, type Payload } from "../../wires/payload.ts";
import type { ApiRequest } from "../client_api.ts";
import { flag, objectOf, text as textField, typeProblem } from "../items/shape.ts";

/** Members that the gateway reads of a relayed request; all others reach the upstream unread. */
export interface RelayedRequest {
  /** The requested model; "" without one. */
  readonly model: string;
  /** True if the client requests an event stream. */
  readonly stream: boolean;
  /** Number of requested images or choices. */
  readonly count: number;
  /** Number of characters of the text for speech. */
  readonly characters: number | null;
  /**
   * Length of the audio in seconds at 16 kbit/s, of which most audio has more; null if the form has
   * no file.
   */
  readonly seconds: number | null;
  /** True if the client requests subtitles, whose last time is the length of the audio. */
  readonly hasSubtitles: boolean;
  /** True if the client requests a transcript that is no JSON. */
  readonly wantsText: boolean;
  /** Content type of a multipart body; null for JSON. */
  readonly contentType: string | null;
  /**
   * Returns the client's own body with this model; unchanged without a model. Refused if the model
   * would end its part in a multipart body.
   */
  payload(model: string): Result<Payload>;
}

/**
 * Returns the facts of a relayed request with a JSON or multipart body. Refused if a field that the
 * gateway reads has another type.
 */
export function relayedRequest({ document, form }: ApiRequest): Result<RelayedRequest> {
  if (form !== undefined) return success(formRequest(form));
  return typeProblem(readFields, document.value) ?? success(jsonRequest(document));
}

const readFields = objectOf({ model: textField, stream: flag });

/** Highest number of images that is read: more is not a stream that could be complete. */
const MAX_COUNT = 1024;

function jsonRequest(document: JsonDocument): RelayedRequest {
  const { model, stream, stream_format, n, input } = document.value;
  return {
    model: typeof model === "string" ? model : "",
    stream: stream === true || stream_format === "sse",
    count: countOf(n),
    characters: typeof input === "string" ? codePoints(input) : null,
    seconds: null,
    hasSubtitles: false,
    wantsText: false,
    contentType: null,
    payload: (bare) => success(jsonPayload(document, bare)),
  };
}

function formRequest(form: MultipartBody): RelayedRequest {
  const format = formText(form, "response_format") ?? "";
  return {
    model: formText(form, "model") ?? "",
    stream: formText(form, "stream")?.trim().toLowerCase() === "true",
    count: countOf(formText(form, "n")),
    characters: null,
    seconds: fileSeconds(form),
    hasSubtitles: ["srt", "vtt"].includes(format),
    wantsText: ["text", "srt", "vtt"].includes(format),
    contentType: form.contentType,
    payload: (bare) => formPayload(form, bare),
  };
}

/** Bytes of a second of audio at 16 kbit/s. */
const AUDIO_BYTES_PER_S = 2_000;

function fileSeconds({ parts }: MultipartBody): number | null {
  const files = parts.filter(({ isFile }) => isFile);
  const bytes = files.reduce((sum, { start, end }) => sum + end - start, 0);
  return files.length === 0 ? null : bytes / AUDIO_BYTES_PER_S;
}

/** Returns a number that is written as such or, as lenient providers read it, as text. */
function countOf(written: unknown): number {
  const count = typeof written === "string" ? Number(written) : written;
  return typeof count === "number" && Number.isInteger(count) && count > 0
    ? Math.min(count, MAX_COUNT)
    : 1;
}

/** Returns the number of code points, of which one outside the basic plane has two code units. */
function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function jsonPayload({ text, bytes, value, members }: JsonDocument, model: string): Payload {
  const isSame = model === "" || value.model === model;
  const edits = () => changeMembers(text.indexOf("{"), members, [["model", JSON.stringify(model)]]);
  return newPayload(
    () => isSame ? text : splice(text, edits()),
    () => isSame ? bytes ?? null : null,
  );
}

/** Returns a multipart body as it was received, with this model in its part `model`. */
function formPayload(form: MultipartBody, model: string): Result<Payload> {
  const isSame = model === "" || formText(form, "model") === model;
  // The client chooses the boundary, and the configuration may choose the model.
  if (!isSame && model.includes(`--${form.boundary}`)) {
    return refuse("invalid_multipart", "The boundary is in the model; use another boundary.");
  }
  return success({ text: () => "", bytes: () => isSame ? form.pieces : withModel(form, model) });
}
