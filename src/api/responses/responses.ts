import { chain } from "../../core/chain.ts";
import { newId } from "../../core/ids.ts";
import { extractFromEvents, extractingDecoder } from "../../core/reasoning_tags.ts";
import { type Result, success } from "../../core/result.ts";
import { exchange } from "../../exchange.ts";
import { utf8Bytes } from "../../formats/utf8.ts";
import type { Call } from "../../gateway/call.ts";
import type { Attempt, Inference, Reader } from "../../gateway/inference.ts";
import type { Target, WireName } from "../../wires/wire.ts";
import { answerDocument } from "../answer_document.ts";
import type { ClientApi } from "../client_api.ts";
import { metadataOf } from "../metadata.ts";
import { responseEncoder, type ResponseLabels, responseOf } from "./encoder.ts";
import { type Context, contextOf } from "./history.ts";
import { lifecycle } from "./lifecycle.ts";
import { type ResponsesRequest, responsesRequest } from "./request.ts";
import { retain } from "./retain.ts";
import { toChat, type TranslatedRequest } from "./to_chat.ts";

/** The Responses API over providers that speak something else (OpenAI API, Responses). */
export const responses: ClientApi = {
  name: "responses",
  endpoints: [{
    method: "POST",
    path: "/v1/responses",
    body: true,
    async handle(call, { document }) {
      const request = responsesRequest(document);
      if (!request.ok) return request;
      const metadata = metadataOf(document.value.metadata);
      if (!metadata.ok) return metadata;
      const context = contextOf(call, request.value);
      if (!context.ok) return context;
      return await exchange(call, inferenceOf(call, request.value, context.value));
    },
  }, ...lifecycle],
};

function inferenceOf(call: Call, request: ResponsesRequest, context: Context): Inference {
  const items = [...context.history.map((item) => ({ item, path: null })), ...context.added];
  const translated = new Map<WireName, Result<TranslatedRequest>>();

  // Targets that speak the same protocol share one translation.
  function chatFor(wire: WireName): Result<TranslatedRequest> {
    const chat = translated.get(wire) ?? toChat(request, items, wire);
    translated.set(wire, chat);
    return chat;
  }

  return {
    type: "responses",
    model: request.model,
    stream: request.stream,
    // What is stored is stored by the gateway itself.
    leavesState: false,
    owner: context.owner,
    canonical: () => null,
    prepare(target) {
      const { wire } = target.provider;
      const chat = chatFor(wire.name);
      if (!chat.ok) return chat;
      const encoded = wire.encode(chat.value, target);
      if (!encoded.ok) return chat.value.inClientTerms(encoded);
      return success<Attempt>({
        target,
        request: encoded.value,
        reader: () => readerOf(call, request, target),
        settle({ resource }) {
          if (resource !== null) retain(call, request, context, target, resource);
        },
      });
    },
  };
}

function readerOf(call: Call, request: ResponsesRequest, { provider, model }: Target): Reader {
  const { world } = call;
  const { wire, settings } = provider;
  const extracts = settings.extract_reasoning_tags;
  const labels: ResponseLabels = {
    id: newId("resp_", world),
    created: world.unix(),
    model,
    request,
    newId: (prefix) => newId(prefix, world),
    unix: () => world.unix(),
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
