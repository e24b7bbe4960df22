import { chain } from "../../core/chain.ts";
import { newId } from "../../core/ids.ts";
import { extractFromEvents, extractingDecoder } from "../../core/reasoning_tags.ts";
import { type Result, success } from "../../core/result.ts";
import { utf8Bytes } from "../../formats/utf8.ts";
import type { Attempt, Reader } from "../../gateway/inference.ts";
import type { Target, WireName } from "../../wires/wire.ts";
import { answerDocument } from "../answer_document.ts";
import type { Attempts, Creation } from "./creation.ts";
import { type EncoderOptions, responseEncoder, responseOf } from "./encoder.ts";
import { toChat, type TranslatedRequest } from "./to_chat.ts";

/** Attempts at targets that speak something else: the gateway itself makes the response. */
export function translatedAttempts(creation: Creation): Attempts {
  const { request, context } = creation;
  const items = [...context.history.map((item) => ({ item, path: null })), ...context.added];
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
    return success<Attempt>({
      target,
      request: encoded.value,
      // What is stored is stored by the gateway itself.
      leavesState: false,
      reader: () => readerOf(creation, target),
      // The encoder has kept the response already: the answer itself has to say what could not be kept.
      settle() {},
    });
  };
}

function readerOf({ call, request, context, settle }: Creation, target: Target): Reader {
  const { world } = call;
  const { wire, model, provider: { settings } } = target;
  const extracts = settings.extract_reasoning_tags;
  const labels: EncoderOptions = {
    id: newId("resp_", world),
    created: world.unix(),
    model,
    request,
    newId: (prefix) => newId(prefix, world),
    unix: () => world.unix(),
    settle: (resource, usage) => settle({ target, context, request, resource, usage }),
  };
  if (request.stream) {
    const decoder = wire.decoder(world);
    return {
      as: "stream",
      delivery: chain(extracts ? extractingDecoder(decoder) : decoder, responseEncoder(labels)),
    };
  }
  return {
    as: "answer",
    read(answer) {
      const document = answerDocument(answer);
      if (!document.ok) return document;
      const events = wire.decode(document.value, world);
      if (!events.ok) return events;
      const response = responseOf(
        extracts ? extractFromEvents(events.value) : events.value,
        labels,
      );
      if (!response.ok) return response;
      const { resource, usage } = response.value;
      const body = utf8Bytes(JSON.stringify(resource));
      const headers = { "content-type": "application/json" };
      return success({ answer: { status: 200, headers, body }, outcome: { resource, usage } });
    },
  };
}
