import { newCallVerifier } from "./call_verifier.ts";
import { type EventEncoder, translateStream } from "../../core/stream/stream.ts";
import type { StreamEvent, Usage } from "../../core/stream/events.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { CallingReasoning } from "../../core/stream/reasoning.ts";
import { extractFromEvents, newExtractingDecoder } from "../reasoning/reasoning_tags.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { utf8Bytes } from "../../formats/utf8.ts";
import type { Call } from "../../call/call.ts";
import type { StreamHandler, WholeHandler } from "../../call/inference.ts";
import { newNumberStage } from "../../wires/compat/number_stage.ts";
import type { NumberedFunctions } from "../../wires/compat/text_enums.ts";
import type { ResponsePromise } from "../../prompt/response_promise.ts";
import type { Stage } from "../../wires/verified/stage.ts";
import { newStagedDecoder, passStage } from "../../wires/verified/verifier.ts";
import type { IdSource, Target } from "../../wires/wire.ts";
import { newContentWatch, newWatchedDecoder } from "./content_watch.ts";
import { newCustomCallStage } from "./custom_calls.ts";
import { newShownModelStage } from "./shown_model.ts";
import { parseResponseText } from "../stored/response_document.ts";

/** A whole response in the protocol of the client. */
export interface EncodedResponse {
  readonly body: JsonObject;
  /** The resource that the client API stores; null if it stores none. */
  readonly resource: JsonObject | null;
  readonly usage: Usage | null;
  /** Reasoning to store for the next request of a tool loop; absent or null for none. */
  readonly reasoning?: CallingReasoning | null;
}

/** Encoding of model responses for a client API. */
export interface ResponseEncoding {
  /** Prefix of the IDs of tool calls to which the upstream gave none; `call_` if absent. */
  readonly callIdPrefix?: string;
  /** Returns an encoder of a stream of events as records. */
  newEncoder(): EventEncoder;
  /** Encodes the events of a whole response. */
  encodeWhole(events: readonly StreamEvent[]): Result<EncodedResponse>;
}

/** A request to a target in another protocol. */
export interface TranslatedCall {
  readonly call: Call;
  readonly target: Target;
  readonly isStream: boolean;
  /** Fields to check on the response, with the client's paths; absent for none. */
  readonly promises?: readonly ResponsePromise[] | undefined;
  /** Names of the functions that replace custom tools; absent for none. */
  readonly bridged?: ReadonlySet<string> | undefined;
  /** The functions whose numbers the upstream gets as texts; absent for none. */
  readonly numbered?: NumberedFunctions | undefined;
}

/** Changes of a response besides its translation. */
export type ResponseChanges = Pick<TranslatedCall, "promises" | "bridged" | "numbered">;

/**
 * Returns the handler of a response in another protocol: decodes it into events, moves `<think>`
 * regions if the provider is configured so, turns texts of numbers back, checks the promises, makes
 * calls of custom tools again, and encodes the events for the client.
 */
export function newTranslatedHandler(
  translated: TranslatedCall,
  { newEncoder, encodeWhole, callIdPrefix }: ResponseEncoding,
): StreamHandler | WholeHandler {
  const { target: { wire, provider }, call: { world } } = translated;
  const idSource: IdSource = callIdPrefix === undefined
    ? world
    : { uuid: () => world.uuid(), unix: () => world.unix(), callIdPrefix };
  const extracts = provider.settings.extract_reasoning_tags;
  const stages = newStages(translated);
  if (translated.isStream) {
    const { decoder, watch } = newWatchedDecoder(wire.newDecoder(idSource));
    const extracting = extracts ? newExtractingDecoder(decoder) : decoder;
    const staged = stages.reduce(newStagedDecoder, extracting);
    const { hasContent, isFiltered } = watch;
    const translation = { ...translateStream(staged, newEncoder()), hasContent, isFiltered };
    return { kind: "stream", translation };
  }
  return {
    kind: "whole",
    read(answer) {
      const document = parseResponseText(answer);
      if (!document.ok) return document;
      const decoded = wire.decode(document.value, idSource);
      if (!decoded.ok) return decoded;
      const watch = newContentWatch();
      for (const event of decoded.value) watch.push(event);
      let events = extracts ? extractFromEvents(decoded.value) : decoded.value;
      for (const stage of stages) {
        const passed = passStage(events, stage);
        if (!passed.ok) return passed;
        events = passed.value;
      }
      const encoded = encodeWhole(events);
      if (!encoded.ok) return encoded;
      const { body, resource, usage, reasoning = null } = encoded.value;
      const isFiltered = watch.isFiltered();
      const headers = { "content-type": "application/json" };
      return success({
        response: { status: 200, headers, body: utf8Bytes(JSON.stringify(body)) },
        outcome: {
          resource,
          usage,
          ...reasoning !== null && { reasoning },
          ...isFiltered && { isFiltered },
        },
      });
    },
  };
}

function newStages(
  { call, target, promises, bridged, numbered, isStream }: TranslatedCall,
): readonly Stage[] {
  const stages: Stage[] = [];
  if (numbered !== undefined) stages.push(newNumberStage(numbered));
  if (target.named?.preset.showsName === true) stages.push(newShownModelStage(target.named.name));
  if (promises !== undefined) stages.push(newCallVerifier(call, promises, isStream));
  if (bridged !== undefined) {
    const { report } = call;
    // A failed attempt may have made some.
    report.customCalls = 0;
    stages.push(newCustomCallStage(bridged, () => void (report.customCalls += 1)));
  }
  return stages;
}
