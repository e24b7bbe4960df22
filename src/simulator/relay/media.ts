import type { JsonObject } from "../../core/json/json.ts";
import { wait } from "../body_stream.ts";
import { invalidValue } from "../field_checks.ts";
import type { Style } from "../model_behaviour.ts";
import { type Answer, defectOf, type SimCall, wholeResponse } from "../sim_call.ts";
import { event, eventStream, onForm, onJson } from "./model_call.ts";
import { textOfTone, toneOf } from "./tone.ts";

/** A PNG of one pixel in base64. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const MAX_IMAGES = 10;

/** `POST /images/generations`: images of one pixel, also with partial images. */
export function generateImages(call: SimCall): Promise<Answer> {
  return imagesOfJson("image_generation", ["prompt"], call);
}

/**
 * `POST /images/edits`: images of one pixel for an image in a multipart body or images in a JSON
 * one.
 */
export function editImages(call: SimCall): Promise<Answer> {
  const isJson = call.httpRequest.headers.get("content-type")?.startsWith("application/json");
  return isJson === true
    ? imagesOfJson("image_edit", ["images", "prompt"], call)
    : imagesOfForm("image_edit", call);
}

/** `POST /images/variations`: images of one pixel. */
export function varyImages(call: SimCall): Promise<Answer> {
  return imagesOfForm(null, call);
}

function imagesOfJson(name: string, needs: readonly string[], call: SimCall): Promise<Answer> {
  return onJson(call, { usual: "sim-echo", needs }, (body, style) => {
    const { n = 1, stream, partial_images: partial = 1 } = body;
    return stream === true
      ? imageStream(name, Number(n), Number(partial), style, call)
      : images(Number(n), style, call);
  });
}

/**
 * Answers a multipart body. `name` is that of the events of a stream; null if it has no streams.
 */
function imagesOfForm(name: string | null, call: SimCall): Promise<Answer> {
  return onForm(call, { usual: "sim-echo", file: "image" }, (form, _, style) => {
    const n = Number(form.get("n") ?? 1);
    return name !== null && form.get("stream") === "true"
      ? imageStream(name, n, Number(form.get("partial_images") ?? 1), style, call)
      : images(n, style, call);
  });
}

function images(n: number, style: Style, call: SimCall): Answer {
  if (!(n >= 1 && n <= MAX_IMAGES)) return invalidValue("n", `n must be from 1 to ${MAX_IMAGES}.`);
  const data = Array.from({ length: n }, () => ({ b64_json: PIXEL }));
  const whole = { created: call.deps.unix(), data };
  return wholeResponse(whole, defectOf(style), call);
}

function imageStream(
  name: string,
  n: number,
  partial: number,
  style: Style,
  call: SimCall,
): Response {
  const records = Array.from({ length: n }, () => [
    ...Array.from(
      { length: partial },
      (_, partial_image_index) =>
        event({ type: `${name}.partial_image`, b64_json: PIXEL, partial_image_index }),
    ),
    event({ type: `${name}.completed`, b64_json: PIXEL, created_at: call.deps.unix() }),
  ]).flat();
  return eventStream(records, style, call);
}

/** `POST /audio/speech`: the tone of the text as WAV, or as events. */
export function speak(call: SimCall): Promise<Answer> {
  return onJson(call, { needs: ["input", "voice"] }, ({ input = "", stream_format }, style) => {
    const wav = toneOf(String(input));
    if (stream_format === "sse") {
      return eventStream(
        [
          event({ type: "speech.audio.delta", audio: wav.toBase64() }),
          event({ type: "speech.audio.done", usage: tokens(String(input)) }),
        ],
        style,
        call,
      );
    }
    return style.kind === "broken"
      ? new Response(brokenOff(wav, call), { headers: WAV })
      : new Response(wav, { headers: WAV });
  });
}

const WAV = { "content-type": "audio/wav" };

/** Time for the bytes before a break to be written: a server discards unwritten ones. */
const WRITE_MS = 50;

/** Returns half of some bytes, after which the connection breaks. */
function brokenOff(
  bytes: Uint8Array<ArrayBuffer>,
  { deps, httpRequest }: SimCall,
): ReadableStream<Uint8Array> {
  let isSent = false;
  return new ReadableStream({
    async pull(controller) {
      if (isSent) {
        await wait(WRITE_MS, deps, httpRequest.signal);
        return controller.error(new Error("The simulator breaks off here."));
      }
      isSent = true;
      controller.enqueue(bytes.subarray(0, bytes.length / 2));
    },
  }, { highWaterMark: 0 });
}

/** `POST /audio/transcriptions` and `/audio/translations`: what a tone of the simulator says. */
export function transcribe(call: SimCall): Promise<Answer> {
  return onForm(call, { file: "file" }, async (form, file, style) => {
    const heard = textOfTone(await file.bytes());
    if (heard === null) return invalidValue("file", "The file is no tone of this server.");
    const { text, seconds } = heard;
    if (form.get("stream") === "true") {
      return eventStream(
        [
          ...text.split(/(?<= )/).map((delta) => event({ type: "transcript.text.delta", delta })),
          event({ type: "transcript.text.done", text, usage: tokens(text) }),
        ],
        style,
        call,
      );
    }
    const format = form.get("response_format") ?? "json";
    if (format === "text") {
      return new Response(`${text}\n`, {
        headers: { "content-type": "text/plain; charset=utf-8" },
      });
    }
    if (format === "srt" || format === "vtt") return subtitles(format, text, seconds);
    const whole: JsonObject = format === "verbose_json"
      ? { task: "transcribe", language: "tone", duration: seconds, text }
      : { text, usage: { type: "duration", seconds } };
    return wholeResponse(whole, defectOf(style), call);
  });
}

/** Returns one subtitle as SubRip or WebVTT. */
function subtitles(format: "srt" | "vtt", text: string, seconds: number): Response {
  const [end = ""] = new Date(Math.round(seconds * 1000)).toISOString().slice(11).split("Z");
  const times = `00:00:00.000 --> ${end}`;
  const body = format === "vtt"
    ? `WEBVTT\n\n${times}\n${text}\n\n`
    : `1\n${times.replaceAll(".", ",")}\n${text}\n\n`;
  return new Response(body, { headers: { "content-type": "text/plain; charset=utf-8" } });
}

function tokens(text: string): JsonObject {
  const count = text.split(/\s+/).length;
  return { input_tokens: count, output_tokens: count, total_tokens: 2 * count };
}
