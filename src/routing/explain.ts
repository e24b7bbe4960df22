import {
  encodeHeaderText,
  FIELD_VALUE,
  FieldTable,
  type RequestHeaders,
} from "../core/header_fields.ts";
import { nearest } from "../config/problems.ts";
import { atOnce } from "../core/at_once.ts";
import { messageOf } from "../core/failure/openai_error.ts";
import {
  type EndpointName,
  type RelayFamily,
  type RequestType,
  ROUTED_PATHS,
} from "../core/endpoint.ts";
import { hasCapability, requireNativeProvider } from "./capability.ts";
import { isLapsed } from "../access/client_key.ts";
import { keyForUser } from "../access/end_users.ts";
import type { Route, RouteTarget } from "../call/generation.ts";
import { refuseEndpoint, refuseProvider } from "../access/permissions.ts";
import { sessionOf } from "../call/session.ts";
import {
  type Evaluation,
  type Prepare,
  reasonText,
  resolveModel,
  withPermission,
} from "./eligible.ts";
import type { Target } from "../wires/wire.ts";
import type { Result } from "../core/failure/result.ts";
import { orderLines } from "./order_text.ts";
import { findMatchInput, mismatchReason, type RouteInput } from "./match.ts";
import { findSticky, type StickyClient } from "./new_plan.ts";
import { planTargets } from "./plan_targets.ts";
import { parseRequestedModel, requestedFrom, type RequestedModel } from "./requested_model.ts";
import {
  keySharesText,
  serverText,
  shareText,
  strategyText,
  targetText,
  verifiedText,
} from "./route_text.ts";

/** Explanation of the routing of a request. */
export interface Explanation {
  readonly lines: readonly string[];
  /** True if a target would serve the request. */
  readonly isServed: boolean;
  /** The route that serves the request; absent without one. */
  readonly route?: Route;
}

/** Forms of the requests that are explained, by client API. */
export interface RequestForms {
  /** Returns the client API of a path. */
  findApi(path: string): EndpointName | null;
  /** Returns the request types that a path is matched by; null if its requests are not routed. */
  findRequestTypes(path: string): readonly [RequestType, ...RequestType[]] | null;
  /** Returns the capability for the stored objects of a path; null if it is for none. */
  findOwnedFamily(path: string): RelayFamily | null;
  /** True if a request of this type needs no model. */
  isModelOptional(type: RequestType): boolean;
  /**
   * Returns the function that prepares the simplest request of a path, matched as a type, for a
   * target.
   */
  plainRequest(path: string, type: RequestType): (target: Target) => Result<unknown>;
}

/** Returns who gets a request for objects that a provider stores, which is not routed. */
function explainOwned(
  call: RouteInput,
  family: RelayFamily,
  requested: RequestedModel,
): Explanation {
  const lines = [
    `Request: ${call.path}, for which a provider needs capabilities.relay: [${family}], ` +
    `provider ${requested.provider ?? "not named"}`,
    ...nameHints(call, { ...requested, model: null }),
  ];
  for (const provider of call.generation.providers.values()) {
    const refused = refuseProvider(call.client.key, provider.id);
    const state = !hasCapability(provider, family)
      ? `skipped, it does not declare ${family}`
      : refused === null
      ? "able"
      : `skipped, ${messageOf(refused.failure)}`;
    lines.push(`Provider ${provider.id}: ${state}`);
  }
  const able = requireNativeProvider(call, requested.provider, family);
  const refused = able.ok ? refuseProvider(call.client.key, able.value.id) : able;
  lines.push(
    refused !== null
      ? `Refused without a known owner: ${messageOf(refused.failure)}`
      : `New objects and lists go to provider ${
        requested.provider ?? (able.ok ? able.value.id : "")
      }.`,
    "A request with an ID goes to the provider and key that made the object, if they are known.",
  );
  return { lines, isServed: refused === null };
}

/** Returns the routing of a request at this Unix time in milliseconds, without sending it. */
export function explainRouting(
  call: RouteInput,
  model: string,
  forms: RequestForms,
  wallMs: number,
): Explanation {
  const { key } = call.client;
  if (key !== null && isLapsed(key, wallMs)) {
    return {
      lines: ["Refused: this client key is disabled or has expired."],
      isServed: false,
    };
  }
  if (key === null || key.endUsers === null) return explainRequest(call, model, forms);
  const found = keyForUser(key, key.endUsers, call.headers);
  if (!found.ok) return { lines: [`Refused: ${messageOf(found.failure)}`], isServed: false };
  const { key: own, user } = found.value;
  // A target stays with the end user, as objects do.
  const client = { ...call.client, key: { ...own, caller: user?.caller ?? own.caller } };
  return explainRequest({ ...call, client }, model, forms);
}

/** Returns the routing of a request whose client is known. */
function explainRequest(call: RouteInput, model: string, forms: RequestForms): Explanation {
  const { key } = call.client;
  const requested = parseRequestedModel(call, model);
  if (!requested.ok) {
    return { lines: [`Refused: ${messageOf(requested.failure)}`], isServed: false };
  }
  const family = forms.findOwnedFamily(call.path);
  const refused = refuseEndpoint(key, family ?? forms.findApi(call.path));
  if (refused !== null) {
    return { lines: [`Refused: ${messageOf(refused.failure)}`], isServed: false };
  }
  const matchesAs = forms.findRequestTypes(call.path);
  if (family !== null) return explainOwned(call, family, requested.value);
  if (matchesAs === null) {
    return { lines: [`Refused: calls of ${call.path} are not routed.`], isServed: false };
  }
  const { input, type } = findMatchInput(call, matchesAs, requested.value);
  const lines = [
    `Request: ${call.path} (${type}), ` +
    `model ${requested.value.model ?? "left to the route"}, ` +
    `provider ${requested.value.provider ?? "left to the route"}`,
    ...nameHints(call, requested.value),
  ];
  let serving: Route | null = null;
  let isServed = false;
  for (const route of call.generation.routes) {
    const reason = mismatchReason(route, input, type, requested.value);
    if (serving !== null || reason !== null) {
      const why = reason ?? `route ${serving?.name} comes first`;
      lines.push(`Route ${route.name}: skipped, ${why}`);
      continue;
    }
    serving = route;
    const asked = requestedFrom(route, requested.value);
    const open = { ...asked, isOptional: forms.isModelOptional(type) };
    const explained = explainRoute(route, forms.plainRequest(call.path, type), open, call);
    lines.push(`Route ${route.name}: serves the request`, ...explained.lines);
    isServed = explained.isServed;
  }
  if (serving === null) lines.push("Refused: no route matches this request.");
  else if (!isServed) lines.push("Refused: no target of the route can serve this request.");
  return { lines, isServed, ...serving !== null && { route: serving } };
}

/** Returns hints about providers and routes that are not configured, mostly typing errors. */
function nameHints({ controls, generation }: RouteInput, requested: RequestedModel): string[] {
  const hints: string[] = [];
  const ids = [...generation.providers.keys()];
  if (requested.provider !== null && !ids.includes(requested.provider)) {
    hints.push(`There is no provider ${requested.provider}${likely(requested.provider, ids)}`);
  }
  const names = generation.routes.map(({ name }) => name);
  if (controls.route !== null && !names.includes(controls.route)) {
    hints.push(`There is no route ${controls.route}${likely(controls.route, names)}`);
  }
  return hints;
}

function likely(written: string, known: readonly string[]): string {
  const found = nearest(written, known);
  return found === null ? "." : `; did you mean ${found}?`;
}

function explainRoute(
  route: Route,
  plainRequest: Prepare<unknown>,
  requested: RequestedModel,
  input: RouteInput,
): Explanation {
  const { controls: { noFallback }, client } = input;
  const prepare = withPermission(input, plainRequest);
  const plan = atOnce(planTargets(route, requested, prepare, { noFallback: false }));
  const able = plan.eligible.map(({ target }) => target);
  const targets = plan.targets.map((one) => {
    const share = one.kind === "eligible" ? shareText(one.target, able, route.strategy) : "-";
    return line(share, one, requested);
  });
  const sees = stickyText(route, able, {
    session: sessionOf(input),
    caller: client.key?.caller ?? null,
  }) ?? strategyText(route.strategy);
  let place = 0;
  const ableFallbacks = plan.ableFallbacks.map(({ target }) => target);
  const fallbacks = plan.fallbacks
    .map((one) => line(one.kind === "eligible" ? `${++place}.` : "-", one, requested));
  const isLimited = requested.provider !== null && route.fallback.length > 0;
  const isRescued = plan.isRescued && !noFallback;
  return {
    isServed: able.length > 0 || isRescued,
    lines: [
      `  Targets, ${route.strategy}:`,
      ...targets,
      ...(sees === null || able.length < 2 ? [] : [`  ${sees}`]),
      ...(fallbacks.length === 0 ? ["  No fallbacks."] : ["  Fallbacks, in order:", ...fallbacks]),
      ...(isLimited ? ["  The requested provider limits the fallbacks to it."] : []),
      ...(isRescued ? ["  No target can serve the request, so the fallbacks serve it."] : []),
      ...(noFallback && able.length + place > 1
        ? ["  The X-Gateway-No-Fallback header ends the list after the picked target."]
        : orderLines(able, ableFallbacks, requested)),
    ],
  };
}

/**
 * Returns the target of a session or client key as a sentence; null for another strategy, or
 * without both.
 */
function stickyText(
  route: Route,
  able: readonly RouteTarget[],
  client: StickyClient,
): string | null {
  const picked = findSticky(route, able, client);
  const { session } = client;
  return picked === null
    ? null
    : `The ${session === null ? "client key" : "session"} stays with ${targetText(picked)} ` +
      "while that target is able to serve it.";
}

function line(label: string, one: Evaluation<unknown>, requested: RequestedModel): string {
  const { target } = one;
  const name = `${target.provider.id}/${target.model ?? resolveModel(target, requested) ?? "?"}`;
  const model = resolveModel(target, requested) ?? "";
  const details = [keySharesText(target, model), verifiedText(target)]
    .filter((text) => text !== null);
  const rest = one.kind === "eligible"
    ? `: ${[serverText(target), ...details].join("; ")}`
    : ` skipped: ${reasonText(one.reason)}`;
  return `    ${label.padEnd(6)} ${name}${rest}`;
}

/** Path of an explained request that names none. */
export const USUAL_PATH = ROUTED_PATHS.chat_completions;

/** Pattern of a header field as `NAME=VALUE` or `NAME: VALUE` (RFC 9110, fields). */
// deno-lint-ignore no-control-regex
const HEADER = /^([\w!#$%&'*+.^`|~-]+)[\t ]*[:=]([^\x00-\x08\x0a-\x1f\x7f]*)$/;

const PROVIDER_HEADER = "x-gateway-provider";

/**
 * Returns the headers of a request that is explained: the written ones as `NAME=VALUE` or `NAME:
 * VALUE`, and that of the provider unless it is empty; or the problem with them as a sentence.
 */
export function parseExplainedHeaders(
  written: readonly string[],
  provider: string,
): RequestHeaders | string {
  const fields: [name: string, value: string][] = [];
  for (const one of written) {
    const [, name, value = ""] = HEADER.exec(one) ?? [];
    if (name === undefined) return "header must be written NAME=VALUE or NAME: VALUE.";
    fields.push([name, encodeHeaderText(value.trim())]);
  }
  if (!FIELD_VALUE.test(provider)) return "provider must be the ID of a provider.";
  if (provider === "") return new FieldTable(fields);
  const others = fields.filter(([name]) => name.toLowerCase() !== PROVIDER_HEADER);
  return new FieldTable([...others, [PROVIDER_HEADER, provider]]);
}
