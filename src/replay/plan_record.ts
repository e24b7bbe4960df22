import type { Plan, PlannedCandidate } from "../call/plan.ts";
import type { Call } from "../call/call.ts";
import type { Config } from "../config/schema.ts";
import { isRefusal, statusOf } from "../core/failure/failure.ts";
import { messageOf } from "../core/failure/openai_error.ts";
import { fault } from "../core/failure/result.ts";
import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import { compile } from "../gateway/compile.ts";
import { newGateway } from "../gateway/gateway.ts";
import type { CallReport } from "../observe/report.ts";
import type { CallRecord } from "../record/record.ts";
import { createApp } from "../server/app.ts";
import type { Creator } from "../store/bindings.ts";
import type { Conversation } from "../store/conversations.ts";
import { newStillWorld } from "./still_world.ts";
import { admitRecorded, type ClientView, viewClient } from "./recorded_client.ts";
import { maskedConfig } from "./masked_config.ts";
import { type TargetView, viewTarget } from "./view_target.ts";

/** A request that the gateway refuses. */
export interface RefusedCall {
  readonly kind: "refused";
  /** Null if it is refused before its route is known. */
  readonly route: string | null;
  readonly status: number;
  readonly code: string;
  /** Path of the field; null if it is no single one. */
  readonly param: string | null;
  /** May quote the request. */
  readonly message: string;
}

/** A request that the gateway sends to a target. */
export interface PlannedCall {
  readonly kind: "planned";
  readonly route: string;
  readonly targets: readonly TargetView[];
  readonly fallbacks: readonly TargetView[];
  /** The other targets with the reasons, without values of the request. */
  readonly skipped: Plan["skipped"];
}

/** Result of one configuration for a recorded request. */
export interface Replayed {
  readonly client: ClientView;
  /** `other`: neither refused nor routed, so that there is nothing to compare. */
  readonly call: RefusedCall | PlannedCall | { readonly kind: "other" };
}

/** A request of a client, as a record has it. */
export type RecordedRequest = NonNullable<CallRecord["request"]>;

/** One configuration without a world around it. */
export interface DryGateway {
  /** The configuration without secrets. */
  readonly config: Config;
  /**
   * Plans the request of a record; null if no client can have sent it. `conversation` is the ID of
   * its local conversation, which is created if the gateway does not have it; `userHeader` is the
   * header in which the client has named its end user, null for that of its key here.
   */
  replay(
    record: CallRecord,
    request: RecordedRequest,
    conversation?: string | null,
    userHeader?: string | null,
  ): Promise<Replayed | null>;
  /**
   * Stores a response as the gateway would have, so that later records of the set can continue it.
   * Belongs to the record that was replayed last.
   */
  store(resource: JsonObject & { readonly id: string }): Promise<void>;
  /** True if a response is stored, so that a record can continue it. */
  hasResponse(id: string): Promise<boolean>;
  /** Returns the number of items in a local conversation; 0 for an unknown one. */
  conversationItems(id: string): Promise<number>;
}

/** Host in the address of replayed requests; none is sent. */
const NO_HOST = "http://replay.invalid";

/** The end of a call whose plan is all that is wanted. */
const PLANNED = fault("internal_error", "The call was only planned.", { mayHaveRun: false });

/** Returns a gateway that plans the calls of records one by one and sends nothing. */
export function newDryGateway(written: Config, seed: number): DryGateway {
  const config = maskedConfig(written);
  const world = newStillWorld(seed);
  const generation = compile(config, 1);
  let record: CallRecord | null = null;
  let conversationId: string | null = null;
  let namedIn: string | null = null;
  let call: Call | null = null;
  let plan: Plan | null = null;
  let report: Readonly<CallReport> | null = null;

  const gateway = newGateway(generation, world, [(ended) => void (report = ended)], {
    // Nothing else runs, so that nothing waits for its turn.
    turns: { next: () => null },
    planned(made) {
      plan = made;
      return made.refused ?? PLANNED;
    },
  });
  const app = createApp(gateway, (admitted) => {
    call = admitted;
    const refused = record === null ? null : admitRecorded(admitted, record.head, namedIn);
    if (refused !== null || conversationId === null) return refused;
    return openConversation(conversationId, admitted.caller.name).then(() => null);
  });
  const { conversations, responses } = gateway.state.objects;

  async function findConversation(id: string): Promise<Conversation | null> {
    const found = await conversations.find(id);
    return found.ok ? found.value : null;
  }

  async function openConversation(id: string, creator: Creator): Promise<void> {
    if (await findConversation(id) !== null) return;
    await conversations.create({ id, creator, createdAt: world.unix(), metadata: {}, items: [] });
  }

  function viewCall(): Replayed["call"] {
    if (plan !== null && plan.refused === null && call !== null) return viewPlan(call, plan);
    const failure = report?.failure ?? null;
    if (failure === null || !(isRefusal(failure) || failure.kind === "no_route")) {
      return { kind: "other" };
    }
    return {
      kind: "refused",
      route: report?.route ?? null,
      status: statusOf(failure),
      code: failure.kind,
      param: isRefusal(failure) ? failure.at : null,
      message: messageOf(failure),
    };
  }

  return {
    config,
    async replay(one, request, conversation = null, userHeader = null) {
      const wallMs = Date.parse(one.at);
      world.begin(one.id, wallMs);
      [conversationId, namedIn] = [conversation, userHeader];
      [record, call, plan, report] = [one, null, null, null];
      const sent = requestOf(one, request);
      if (sent === null) return null;
      const response = await app(sent);
      await response.body?.cancel();
      return { client: viewClient(generation, one.head, wallMs), call: viewCall() };
    },
    async store(resource) {
      const candidate = record === null || plan === null ? null : servingCandidate(record, plan);
      await candidate?.onComplete({ resource, usage: null });
    },
    async hasResponse(id) {
      const found = await responses.find(id);
      return found.ok && found.value !== null;
    },
    conversationItems: async (id) => (await findConversation(id))?.items.length ?? 0,
  };
}

function viewPlan(call: Call, { route, targets, fallbacks, skipped }: Plan): PlannedCall {
  return {
    kind: "planned",
    route,
    targets: targets.map(({ candidate, share, keys }) => viewTarget(call, candidate, share, keys)),
    fallbacks: fallbacks.map((candidate) => viewTarget(call, candidate, "", null)),
    skipped,
  };
}

/** Returns the candidate that served a record, as far as a plan has it; else its first one. */
function servingCandidate({ head: { attempts } }: CallRecord, plan: Plan): PlannedCandidate | null {
  const candidates = [...plan.targets.map(({ candidate }) => candidate), ...plan.fallbacks];
  const served = attempts.at(-1);
  return candidates.find(({ target: { provider, model } }) =>
    provider.id === served?.provider && model === served.model
  ) ?? candidates[0] ?? null;
}

/**
 * Returns the request of a record, a turn of a WebSocket as the request of its message; null if the
 * record has what is no method, path or header.
 */
function requestOf(record: CallRecord, request: RecordedRequest): Request | null {
  if (!record.head.path.startsWith("/")) return null;
  try {
    return newRequest(record, request);
  } catch {
    // The error may quote the header.
    return null;
  }
}

function newRequest({ head }: CallRecord, { headers, query, body }: RecordedRequest): Request {
  const url = `${NO_HOST}${head.path}${query === "" ? "" : `?${query}`}`;
  if (body === null) return new Request(url, { method: head.method, headers });
  const isTurn = head.method === "GET";
  const bytes = new TextEncoder().encode(isTurn ? messageBody(body) : body);
  return new Request(url, {
    method: isTurn ? "POST" : head.method,
    headers: { ...headers, "content-length": String(bytes.length) },
    body: bytes,
  });
}

function messageBody(text: string): string {
  const message = parseJson(text);
  if (!isObject(message)) return text;
  const { type: _, ...request } = message;
  return JSON.stringify(request);
}
