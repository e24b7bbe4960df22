import { headerWords } from "../core/header_words.ts";
import type { Call } from "../gateway/call.ts";
import type { Route } from "../gateway/generation.ts";
import type { Inference } from "../gateway/inference.ts";
import type { Requested } from "./requested.ts";

/** What of a call decides its route. */
export type Routed = Pick<Call, "path" | "headers" | "controls" | "generation">;

/** Why a route does not take a call; null when it does. */
export function mismatch(
  route: Route,
  call: Routed,
  type: Inference["type"],
  wanted: Requested,
): string | null {
  if (call.controls.route !== null && route.name !== call.controls.route) {
    return "another route is forced";
  }
  if (!call.path.startsWith(route.path)) return `the path does not begin with ${route.path}`;
  const header = route.headers.find(([name, value]) =>
    headerOf(name, call, type, wanted) !== value
  );
  if (header !== undefined) return `the header ${header[0]} does not match`;
  if (route.models === null) return null;
  const names = namesOf(wanted);
  const isListed = route.models.some((isMeant) => names.some(isMeant));
  return isListed ? null : "the model is not among those it matches";
}

/** A requested model by its bare name and, where a provider is requested too, by its canonical one. */
function namesOf({ provider, asked }: Requested): string[] {
  return provider === null ? [asked] : [asked, `${provider}/${asked}`];
}

/** A call as its route is looked for. */
export interface Matched {
  readonly routed: Routed;
  readonly type: Inference["type"];
}

/** A request for a response that no route takes as such is matched as one for chat. */
export function matchedAs(routed: Routed, type: Inference["type"], wanted: Requested): Matched {
  const { headers, controls, generation } = routed;
  const asked = { routed, type };
  return type !== "responses" || firstOf(asked, wanted) !== null ? asked : {
    routed: { path: "/v1/chat/completions", headers, controls, generation },
    type: "chat_completions",
  };
}

/** The first matching route in file order is authoritative. */
export function matchRoute(
  call: Routed,
  type: Inference["type"],
  wanted: Requested,
): Route | null {
  return firstOf(matchedAs(call, type, wanted), wanted);
}

function firstOf({ routed, type }: Matched, wanted: Requested): Route | null {
  const { routes } = routed.generation;
  return routes.find((route) => mismatch(route, routed, type, wanted) === null) ?? null;
}

/** Three names are the gateway's own, so that no caller can pretend them. */
function headerOf(
  name: string,
  call: Routed,
  type: Inference["type"],
  wanted: Requested,
): string | null {
  switch (name) {
    case "x-gateway-request-type":
      return type;
    case "x-gateway-model":
      return wanted.asked === "" ? null : wanted.asked;
    case "x-gateway-provider":
      return wanted.provider;
    default: {
      const written = call.headers.get(name);
      return written === null ? null : headerWords(written);
    }
  }
}
