import { newId } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json.ts";
import { missing } from "../checks.ts";
import { bodyOf, perform, refusal } from "../chat.ts";
import { scriptFor } from "../script.ts";
import type { Visit } from "../visit.ts";
import { complain, type Script, type Stage } from "../voice.ts";
import { COMPACTED } from "./item_rules.ts";
import { wholeAnswer } from "./odd_json.ts";
import { type Question, readQuestion } from "./question.ts";
import { usageOf } from "./resource.ts";

/** `POST /responses/compact`: the messages of the user stay, the rest becomes one sealed item. */
export async function compactInput(visit: Visit): Promise<Response> {
  const body = await bodyOf(visit.request);
  if (body !== null && typeof body.model !== "string") return refusal(missing("model"), visit);
  return await performed(body, visit, ({ ask, context }, script, stage) => {
    const sealed = visit.account.seal(COMPACTED);
    const compaction = { id: newId("cmp_", stage), type: "compaction", encrypted_content: sealed };
    return {
      id: newId("resp_", stage),
      object: "response.compaction",
      created_at: stage.unix(),
      output: [...context.filter(({ role }) => role === "user"), compaction],
      usage: usageOf(ask.input, { ...script, thinking: [], output: 1 }),
    };
  });
}

/** `POST /responses/input_tokens`: the words of everything that the model would read. */
export async function countInput(visit: Visit): Promise<Response> {
  const body = await bodyOf(visit.request);
  // The model does not matter here, and may be left out.
  const named = body === null ? null : { model: "sim-echo", ...body };
  return await performed(named, visit, ({ ask }) => (
    { object: "response.input_tokens", input_tokens: ask.input }
  ));
}

async function performed(
  body: JsonObject | null,
  visit: Visit,
  answer: (question: Question, script: Script, stage: Stage) => JsonObject,
): Promise<Response> {
  if (body === null) return refusal(complain("The body is no JSON object."), visit);
  const stage = visit.account.begin()();
  const reading = readQuestion(body, visit.account, stage);
  if ("complaint" in reading) return refusal(reading.complaint, visit);
  const { question } = reading;
  return await perform(question.ask.model, visit, (manner) => {
    const script = scriptFor(manner, question.ask);
    return wholeAnswer(answer(question, script, stage), script, visit);
  });
}
