import { newId } from "../../../core/ids.ts";
import { type Result, success } from "../../../core/result.ts";
import type { Candidate, ResponseHandler } from "../../../call/inference.ts";
import type { Target, WireName } from "../../../wires/wire.ts";
import { newTranslatedHandler } from "../../translated_reader.ts";
import { storedHistory } from "../state/continuation.ts";
import type { Attempts, Creation } from "../creation.ts";
import { responseEncoder, responseOf } from "../generate/encoder.ts";
import type { ResponseLabels } from "../generate/resource.ts";
import { toChat, type TranslatedRequest } from "./to_chat.ts";

/** Attempts at targets that speak something else: the gateway itself makes the response. */
export function translatedAttempts(creation: Creation): Attempts {
  const { request, context, settle } = creation;
  const history = storedHistory(context.continuation).map((item) => ({ item, path: null }));
  const items = [...history, ...context.added];
  const translated = new Map<WireName, Result<TranslatedRequest>>();

  // Targets that speak the same protocol share one translation.
  function chatFor(wire: WireName): Result<TranslatedRequest> {
    const chat = translated.get(wire) ?? toChat(request, items, wire);
    translated.set(wire, chat);
    return chat;
  }

  return (target) => {
    if (context.missing !== null) return context.missing;
    const { wire } = target;
    const chat = chatFor(wire.name);
    if (!chat.ok) return chat;
    const encoded = wire.encode(chat.value, target);
    if (!encoded.ok) return chat.value.inClientTerms(encoded);
    return success<Candidate>({
      target,
      request: encoded.value,
      // What is stored is stored by the gateway itself.
      hasSideEffects: false,
      responseHandler: () => readerOf(creation, target),
      onComplete: (outcome) => settle(target, outcome),
    });
  };
}

function readerOf({ call, request }: Creation, target: Target): ResponseHandler {
  const { world } = call;
  const { model } = target;
  const labels: ResponseLabels = {
    id: newId("resp_", world),
    created: world.unix(),
    model,
    request,
    newId: (prefix) => newId(prefix, world),
    unix: () => world.unix(),
  };
  return newTranslatedHandler(target, world, request.stream, {
    newEncoder: () => responseEncoder(labels),
    encodeWhole(events) {
      const response = responseOf(events, labels);
      return response.ok ? success({ ...response.value, body: response.value.resource }) : response;
    },
  });
}
