import { isObject, type JsonObject, parseJson } from "../core/json.ts";
import { behaviourOf, type Manner } from "./behaviour.ts";
import { answerSteps, streamSteps } from "./breakage.ts";
import { playback, untilAborted, wait } from "./playback.ts";
import { scriptFor } from "./script.ts";
import { complain, type Complaint, type Defect, type Stage, type Voice } from "./voice.ts";

/** A call in progress: who asks, in which protocol, and the outside. */
export interface Scene {
  readonly voice: Voice;
  readonly request: Request;
  readonly stage: Stage;
}

const JSON_TYPE = { "content-type": "application/json" } as const;

/** Answers a chat call in the protocol of the voice, whole or as a stream. */
export async function converse(scene: Scene): Promise<Response> {
  const { voice, request, stage } = scene;
  const body = await bodyOf(request);
  if (body === null) return refusal(complain("The body is no JSON object."), scene);
  const reading = voice.read(body, request.headers);
  if ("complaint" in reading) return refusal(reading.complaint, scene);
  const { ask } = reading;
  return await perform(ask.model, scene, async (manner) => {
    const script = scriptFor(manner, ask);
    if (ask.stream) {
      const error = JSON.stringify(voice.error(BROKE_OFF, stage));
      const records = voice.records(script, ask, stage);
      const steps = streamSteps(records, script, { record: voice.record, error });
      const headers = { "content-type": voice.streamType, "cache-control": "no-cache" };
      return new Response(playback(steps, stage), { headers });
    }
    await wait(script.pause * script.text.length, stage, request.signal);
    return whole(voice.answer(script, ask, stage), script.defect, scene);
  });
}

const BROKE_OFF = complain("Simulated failure.", { status: 500 });

/** The body of a request as a JSON object; null when it is none. */
export async function bodyOf(request: Request): Promise<JsonObject | null> {
  const body = parseJson(await request.text());
  return isObject(body) ? body : null;
}

/** Does what the name of the model says; `speak` makes the answer of a model that has one. */
export async function perform(
  model: string,
  scene: Scene,
  speak: (manner: Manner) => Promise<Response> | Response,
): Promise<Response> {
  const behaviour = behaviourOf(model);
  if (behaviour === null) return refusal(scene.voice.unknownModel(model), scene);
  switch (behaviour.does) {
    case "speak":
      return await speak(behaviour.manner);
    case "fail": {
      const { status } = behaviour;
      return refusal(complain(`Simulated failure with status ${status}.`, { status }), scene);
    }
    case "redirect":
      return new Response(null, { status: 302, headers: { location: "/elsewhere" } });
    case "say_nothing":
      return new Response(null, { status: 204 });
    case "hang":
      await untilAborted(scene.request.signal);
      return new Response(null, { status: 499 });
  }
}

/** A whole answer, broken when there is a defect. */
export function whole(value: JsonObject, defect: Defect | null, scene: Scene): Response {
  const body = JSON.stringify(value);
  if (defect === null) return new Response(body, { headers: JSON_TYPE });
  const error = JSON.stringify(scene.voice.error(BROKE_OFF, scene.stage));
  return new Response(playback(answerSteps(body, defect, error), scene.stage), {
    headers: JSON_TYPE,
  });
}

const ASK_AGAIN: readonly number[] = [429, 503, 529];

/** An error in the shape of the protocol; one that passes asks to be repeated after a second. */
export function refusal(complaint: Complaint, { voice, stage }: Scene): Response {
  const { status } = complaint;
  const headers = ASK_AGAIN.includes(status) ? { ...JSON_TYPE, "retry-after": "1" } : JSON_TYPE;
  return new Response(JSON.stringify(voice.error(complaint, stage)), { status, headers });
}
