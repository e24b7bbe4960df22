import type { JsonObject } from "../../core/json/json.ts";
import type { BodyStep } from "../body_stream.ts";
import { missingParameter } from "../field_checks.ts";
import type { Style } from "../model_behaviour.ts";
import { newApiError } from "../protocol.ts";
import { type Answer, runModel, type SimCall, streamResponse, withJson } from "../sim_call.ts";

/** Answers a call with a JSON body with the behaviour of its model; `usual` is the model without one. */
export function onJson(
  call: SimCall,
  { usual = null, needs = [] }: {
    readonly usual?: string | null;
    readonly needs?: readonly string[];
  },
  answer: (body: JsonObject, style: Style) => Answer | Promise<Answer>,
): Promise<Answer> {
  return withJson((_, body) => {
    const { model = usual } = body;
    if (typeof model !== "string") return missingParameter("model");
    const missing = needs.find((name) => body[name] === undefined);
    if (missing !== undefined) return missingParameter(missing);
    return runModel(model, call, (style) => answer({ ...body, model }, style));
  })(call);
}

/** Answers a call with a multipart body; the runtime parses it. */
export async function onForm(
  call: SimCall,
  { usual = null, file }: { readonly usual?: string | null; readonly file: string },
  answer: (form: FormData, upload: File, style: Style) => Answer | Promise<Answer>,
): Promise<Answer> {
  const form = await readForm(call);
  if (form === null) return newApiError("The body is no multipart form.");
  const model = form.get("model") ?? usual;
  if (typeof model !== "string") return missingParameter("model");
  const upload = form.get(file) ?? form.get(`${file}[]`);
  if (!(upload instanceof File)) return missingParameter(file);
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
  return streamResponse(steps.values(), deps);
}

/** Returns an event with this data, with its type as its name. */
export function event(data: JsonObject): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
