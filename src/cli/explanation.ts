import { nearest } from "../config/problems.ts";
import type { RequestType } from "../core/endpoint.ts";
import { requestTypesOf } from "../api/registry.ts";
import { chatRequest } from "../api/chat/request.ts";
import { NO_EMBEDDINGS } from "../api/embeddings/embeddings.ts";
import { documentOf } from "../formats/document.ts";
import type { Route, RouteTarget } from "../gateway/generation.ts";
import { isModel, isProvider, modelOf } from "../routing/eligible.ts";
import { matchedAs, mismatch, type Routed } from "../routing/match.ts";
import { type Requested, requested } from "../routing/requested.ts";
import { serverText, shareText } from "./route_text.ts";

/** What becomes of a request, line by line. */
export interface Explanation {
  readonly lines: readonly string[];
  /** Some target would get it. */
  readonly isServed: boolean;
}

/** Follows a request through the routes without sending anything. */
export function explanation(call: Routed, model: string): Explanation {
  const wanted = requested(call, model);
  if (!wanted.ok) return { lines: [`Refused: ${wanted.failure.message}`], isServed: false };
  const matchesAs = requestTypesOf(call.path);
  if (matchesAs === null) {
    return { lines: [`Refused: calls of ${call.path} are not routed.`], isServed: false };
  }
  const { routed, type } = matchedAs(call, matchesAs, wanted.value);
  const lines = [
    `Request: ${call.path} (${type}), ` +
    `model ${wanted.value.model ?? "left to the route"}, ` +
    `provider ${wanted.value.provider ?? "left to the route"}`,
    ...nameHints(call, wanted.value),
  ];
  let taken: Route | null = null;
  let isServed = false;
  for (const route of call.generation.routes) {
    const reason = mismatch(route, routed, type, wanted.value);
    if (taken !== null || reason !== null) {
      const why = reason ?? `route ${taken?.name} comes first`;
      lines.push(`Route ${route.name}: passed over, ${why}`);
      continue;
    }
    taken = route;
    const told = routeExplanation(route, type, wanted.value, call.controls.noFallback);
    lines.push(`Route ${route.name}: takes the request`, ...told.lines);
    isServed = told.isServed;
  }
  if (taken === null) lines.push("Refused: no route matches this request.");
  else if (!isServed) lines.push("Refused: no target of the route can serve this request.");
  return { lines, isServed };
}

/** Names that the file does not know are mostly slips. */
function nameHints({ controls, generation }: Routed, wanted: Requested): string[] {
  const hints: string[] = [];
  const ids = [...generation.providers.keys()];
  if (wanted.provider !== null && !ids.includes(wanted.provider)) {
    hints.push(`There is no provider ${wanted.provider}${likely(wanted.provider, ids)}`);
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

function routeExplanation(
  route: Route,
  type: RequestType,
  wanted: Requested,
  noFallback: boolean,
): Explanation {
  const able = route.targets.filter((target) => obstacle(target, type, wanted) === null);
  const targets = route.targets.map((target) => {
    const reason = obstacle(target, type, wanted);
    const share = reason === null ? shareText(target, able, route.strategy) : "-";
    return line(share, target, wanted, reason);
  });
  let place = 0;
  const fallbacks = route.fallback.map((target) => {
    const reason = fallbackObstacle(target, type, wanted);
    return line(reason === null ? `${++place}.` : "-", target, wanted, reason);
  });
  const isLimited = wanted.provider !== null && route.fallback.length > 0;
  const isRescued = place > 0 && !noFallback && isLeftToFallbacks(route, able, wanted);
  return {
    isServed: able.length > 0 || isRescued,
    lines: [
      `  Targets, ${route.strategy}:`,
      ...targets,
      ...(fallbacks.length === 0 ? ["  No fallbacks."] : ["  Fallbacks, in order:", ...fallbacks]),
      ...(isLimited ? ["  The requested provider limits the fallbacks to it."] : []),
      ...(isRescued ? ["  No target can take the request, so that the fallbacks get it."] : []),
      ...(noFallback && route.fallback.length > 0
        ? ["  The X-Gateway-No-Fallback header rules the fallbacks out."]
        : []),
    ],
  };
}

/** What the targets cannot keep goes to the fallbacks; a provider or model that is missing is refused. */
function isLeftToFallbacks(
  route: Route,
  able: readonly RouteTarget[],
  wanted: Requested,
): boolean {
  const first = route.targets.find((target) =>
    target.weight > 0 && isProvider(target, wanted) && isModel(target, wanted)
  );
  return able.length === 0 && first !== undefined && modelOf(first, wanted) !== null;
}

function line(
  label: string,
  target: RouteTarget,
  wanted: Requested,
  reason: string | null,
): string {
  const name = `${target.provider.id}/${target.model ?? modelOf(target, wanted) ?? "?"}`;
  const rest = reason === null ? `: ${serverText(target)}` : ` passed over: ${reason}`;
  return `    ${label.padEnd(6)} ${name}${rest}`;
}

/** Why a target does not get the request; null when it may. */
function obstacle(target: RouteTarget, type: RequestType, wanted: Requested): string | null {
  if (target.weight === 0) return "its weight is 0";
  if (isProvider(target, wanted) && !isModel(target, wanted)) return "it serves another model";
  return fallbackObstacle(target, type, wanted);
}

function fallbackObstacle(
  target: RouteTarget,
  type: RequestType,
  wanted: Requested,
): string | null {
  if (!isProvider(target, wanted)) return "another provider is requested";
  const model = modelOf(target, wanted);
  if (model === null) return "neither the request nor the file names a model";
  return type === "embeddings" ? embeddingsRefusal(target, model) : chatRefusal(target, model);
}

/** Why not even a plain question can be translated for this target; null when it can. */
function chatRefusal({ provider, wire }: RouteTarget, model: string): string | null {
  const messages = [{ role: "user", content: "Say hello." }];
  const plain = chatRequest(documentOf({ model, messages }));
  const encoded = plain.ok ? wire.encode(plain.value, { provider, model, wire }) : plain;
  return encoded.ok ? null : encoded.failure.message;
}

/** Why not even a plain text can be sent to this target for its vector; null when it can. */
function embeddingsRefusal({ provider }: RouteTarget, model: string): string | null {
  const { wire } = provider;
  const { embeddings } = wire;
  if (embeddings === null) return NO_EMBEDDINGS;
  const plain = documentOf({ model, input: "Say hello." });
  const encoded = embeddings.encode(plain, { provider, model, wire });
  return encoded.ok ? null : encoded.failure.message;
}
