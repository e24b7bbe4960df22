import type { JsonObject } from "../../core/json/json.ts";
import { type BodyStep, newBodyStream } from "../body_stream.ts";
import { missingParameter } from "../field_checks.ts";
import type { Style } from "../model_behaviour.ts";
import { newApiError } from "../protocol.ts";
import { errorResponse, readJsonBody, runModel, type SimCall } from "../sim_call.ts";

/** Answers a call with a JSON body with the behaviour of its model; `usual` is the model without one. */
export async function onJson(
  call: SimCall,
  { usual = null, needs = [] }: {
    readonly usual?: string | null;
    readonly needs?: readonly string[];
  },
  answer: (body: JsonObject, style: Style) => Response | Promise<Response>,
): Promise<Response> {
  const body = await readJsonBody(call.httpRequest);
  if (body === null) return errorResponse(newApiError("The body is no JSON object."), call);
  const { model = usual } = body;
  if (typeof model !== "string") return errorResponse(missingParameter("model"), call);
  const missing = needs.find((name) => body[name] === undefined);
  if (missing !== undefined) return errorResponse(missingParameter(missing), call);
  return await runModel(model, call, (style) => answer({ ...body, model }, style));
}

/** Answers a call with a multipart body; the runtime parses it. */
export async function onForm(
  call: SimCall,
  { usual = null, file }: { readonly usual?: string | null; readonly file: string },
  answer: (form: FormData, upload: File, style: Style) => Response | Promise<Response>,
): Promise<Response> {
  const form = await readForm(call);
  if (form === null) return errorResponse(newApiError("The body is no multipart form."), call);
  const model = form.get("model") ?? usual;
  if (typeof model !== "string") return errorResponse(missingParameter("model"), call);
  const upload = form.get(file) ?? form.get(`${file}[]`);
  if (!(upload instanceof File)) return errorResponse(missingParameter(file), call);
  return await runModel(model, call, (style) => answer(form, upload, style));
}

/** Returns the multipart body of a call; null if it is none. */
export async function readForm({ httpRequest }: SimCall): Promise<FormData | null> {
  try {
    return await httpRequest.formData();
  } catch {
    return null;
  }
}

/** Returns an event stream of these records; a broken model ends it before the last two, of which the first may have a finish reason. */
export function eventStream(
  records: readonly string[],
  style: Style,
  { deps }: SimCall,
): Response {
  const isBroken = style.kind === "broken";
  const sent = isBroken ? records.slice(0, Math.max(1, records.length - 2)) : records;
  const steps: readonly BodyStep[] = sent.map((text) => ({ kind: "send", text }));
  return new Response(newBodyStream(steps[Symbol.iterator](), deps), {
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache" },
  });
}

/** Returns an event with this data, with its type as its name. */
export function event(data: JsonObject): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
