import type { JsonObject } from "../../core/json.ts";
import type { KeptResponse } from "../account.ts";
import type { Manner } from "../behaviour.ts";
import { streamSteps } from "../breakage.ts";
import { bodyOf, perform, refusal } from "../chat.ts";
import { playback, wait } from "../playback.ts";
import { scriptFor } from "../script.ts";
import type { Visit } from "../visit.ts";
import { type Chunk, complain, type Script, type Stage } from "../voice.ts";
import { eventsOf, type Said } from "./events.ts";
import { seen, settle } from "./keep.ts";
import { record, recordsOf } from "./odd_events.ts";
import { streamStatus, wholeAnswer } from "./odd_json.ts";
import { partsOf } from "./parts.ts";
import { type Question, readQuestion } from "./question.ts";
import { resourceOf } from "./resource.ts";
import { createComplaints } from "./rules.ts";

interface Answer {
  readonly script: Script;
  readonly said: readonly Said[];
  readonly kept: KeptResponse;
}

/** `POST /responses`, whole or as a stream, at once or in the background. */
export async function createResponse(visit: Visit): Promise<Response> {
  const { account, request } = visit;
  const body = await bodyOf(request);
  if (body === null) return refusal(complain("The body is no JSON object."), visit);
  for (const complaint of createComplaints(body)) return refusal(complaint, visit);
  const stage = account.begin()();
  const reading = readQuestion(body, account, stage);
  if ("complaint" in reading) return refusal(reading.complaint, visit);
  const { question } = reading;
  return await perform(question.ask.model, visit, async (manner) => {
    const answer = answerTo(question, manner, visit, stage);
    const { script, kept } = answer;
    const inBackground = kept.resource.background === true;
    if (inBackground) account.responses.put(String(kept.resource.id), kept);
    if (question.ask.stream) return streamed(answer, visit);
    if (inBackground) return wholeAnswer(seen(kept), script, visit);
    await wait(script.pause * script.text.length, visit.stage, request.signal);
    if (script.defect === null) settle(kept, account);
    return wholeAnswer(kept.resource, script, visit);
  });
}

function answerTo(question: Question, manner: Manner, { account }: Visit, stage: Stage): Answer {
  const script = scriptFor(manner, question.ask);
  const searches = question.maySearch && manner.kind === "tools";
  const query = searches ? question.ask.prompt : null;
  const parts = partsOf(script, { account, stage, query, sealed: question.sealed });
  const resource = resourceOf(question, script, parts, stage);
  const said = eventsOf(resource, parts);
  const events = said.map(({ event }) => event);
  const { fresh, context } = question;
  return { script, said, kept: { resource, events, fresh, input: context, stage: "queued" } };
}

function streamed({ script, said, kept }: Answer, { account, stage }: Visit): Response {
  let number = -1;
  const spoiled = {
    record,
    get error() {
      return JSON.stringify(brokenOff(number + 1));
    },
  };
  const steps = streamSteps(telling(), script, spoiled);
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
  return new Response(playback(steps, stage), { status: streamStatus(script), headers });

  function* telling(): Generator<Chunk> {
    for (const chunk of recordsOf(said, script)) {
      // Its reader may leave once it has the terminal, so that is the time to keep it.
      if (number === said.length - 2) settle(kept, account);
      yield chunk;
      number++;
    }
  }
}

/** Both shapes of the error event that servers send. */
function brokenOff(number: number): JsonObject {
  const error = { code: "server_error", message: "Simulated failure.", param: null };
  const nested = { type: "server_error", ...error };
  return { type: "error", sequence_number: number, ...error, error: nested };
}
