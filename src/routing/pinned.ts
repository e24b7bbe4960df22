import { fault, refuse, type Result, success } from "../core/result.ts";
import type { Call } from "../gateway/call.ts";
import type { Inference, Plan } from "../gateway/inference.ts";
import type { Pin } from "../gateway/owner.ts";
import type { Route } from "../gateway/generation.ts";
import { isModel } from "./eligible.ts";
import { matchRoute } from "./match.ts";
import type { Requested } from "./requested.ts";

/**
 * The one attempt of a call that continues something: at its owner, with the route and the model
 * that it had, unless the client names others that lead to the same owner.
 */
export function pinned(
  call: Call,
  inference: Inference,
  { provider, origin }: Pin,
  wanted: Requested,
): Result<Plan> {
  if (wanted.provider !== null && wanted.provider !== provider.id) {
    return refuse(
      "invalid_value",
      "What this request continues belongs to another provider; name that one or none.",
      "provider",
    );
  }
  const route = routeOf(call, inference, origin.route, wanted);
  if (route === null) {
    return fault("no_route", "No configured route matches this request.", { taken: false });
  }
  call.report.route = route.name;
  const targets = [...route.targets, ...route.fallback]
    .filter((target) => target.provider.id === provider.id);
  if (targets.length === 0) {
    return refuse(
      "provider_not_found",
      `The route '${route.name}' has no target with the provider of what this request continues.`,
      "provider",
    );
  }
  // Clients repeat the model they asked for, also when a fallback answered with another one.
  const stays = wanted.model === null || wanted.model === origin.asked ||
    wanted.model === origin.model;
  if (!stays && !targets.some((target) => isModel(target, wanted))) {
    return refuse(
      "model_not_found",
      `The route '${route.name}' has no target with the requested model at this provider.`,
      "model",
    );
  }
  const attempt = inference.prepare({
    provider,
    model: stays ? origin.model : wanted.model,
  });
  return attempt.ok ? success([attempt.value]) : attempt;
}

function routeOf(
  call: Call,
  inference: Inference,
  earlier: string,
  wanted: Requested,
): Route | null {
  const isForced = call.controls.route !== null && call.controls.route !== earlier;
  const same = call.generation.routes.find(({ name }) => name === earlier);
  return isForced || same === undefined ? matchRoute(call, inference.type, wanted) : same;
}
