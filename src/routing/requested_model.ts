import { type Failed, refuse, type Result, success } from "../core/failure/result.ts";
import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import type { Call } from "../call/call.ts";
import { OPEN_MODEL } from "../config/models_rules.ts";
import { refuseProvider } from "../access/permissions.ts";

/** The provider and the model that a client requests. */
export interface RequestedModel {
  /** Provider ID; null if the route decides. */
  readonly provider: string | null;
  /** Bare model; null if the route decides. */
  readonly model: string | null;
  /** The bare model as written, also if it is empty or "auto". Routes are matched by this text. */
  readonly written: string;
  /** True if the request needs no model; absent otherwise. */
  readonly isOptional?: boolean;
  /** True if the name itself names the provider, so that it is no named model; absent otherwise. */
  readonly isCanonical?: true;
  /** True if the name is that of the named model whose route serves the request. */
  readonly isNamed?: true;
}

/**
 * Parses the requested provider and model; headers win over the body. A model is canonical if the
 * text before its first slash is a configured provider. Otherwise the slash is part of the model
 * name. Refused as `provider_not_allowed` if the client key may not use the requested provider.
 */
export function parseRequestedModel(
  call: Pick<Call, "controls" | "generation" | "client">,
  bodyModel: string,
): Result<RequestedModel> {
  const repeated = repeatedHeader(call.controls);
  if (repeated !== null) return repeated;
  const name = call.controls.model ?? bodyModel;
  const slash = name.indexOf("/");
  const prefix = slash < 0 ? "" : name.slice(0, slash);
  const isCanonical = call.generation.providers.has(prefix);
  const written = isCanonical ? name.slice(slash + 1) : name;
  const isOpen = written === OPEN_MODEL &&
    (isCanonical || !Object.hasOwn(call.generation.config.models, OPEN_MODEL));
  const { provider } = call.controls;
  if (isCanonical && provider !== null && provider !== prefix) {
    return refuse(
      "invalid_value",
      "The X-Gateway-Provider header and the model name different providers; keep one of them.",
      "model",
    );
  }
  const requested = provider ?? (isCanonical ? prefix : null);
  const refused = requested === null ? null : refuseProvider(call.client.key, requested);
  return refused ?? success({
    provider: requested,
    model: written === "" || isOpen ? null : written,
    written,
    ...isCanonical && { isCanonical },
  });
}

/** Returns a request as the targets of a route see it: a named model leaves them the choice. */
export function requestedFrom(
  { preset, models }: Pick<Route, "preset" | "models">,
  requested: RequestedModel,
): RequestedModel {
  if (preset === undefined || requested.model === null || requested.isCanonical) return requested;
  const isNamed = models?.some((isMeant) => isMeant(requested.written)) === true;
  return isNamed ? { ...requested, isNamed } : requested;
}

/**
 * Returns the target of a named model for an endpoint without routing: the first that is able, else
 * the first that is not disabled. Null if the request names no named model.
 */
export function findNamedTarget(
  { routes }: Pick<Generation, "routes">,
  requested: RequestedModel,
  isAble: (target: RouteTarget) => boolean,
): RouteTarget | null {
  const route = routes.find((one) => requestedFrom(one, requested).isNamed === true);
  if (route === undefined) return null;
  const targets = [...route.targets, ...route.fallback].filter(({ provider, weight }) =>
    weight > 0 && (requested.provider === null || provider.id === requested.provider)
  );
  return targets.find(isAble) ?? targets[0] ?? null;
}

/**
 * Refuses a repeated header, which arrives as one value with a comma. No ID and no model holds a
 * comma.
 */
function repeatedHeader({ provider, model }: Call["controls"]): Failed | null {
  if (provider?.includes(",")) return refuseRepeated("X-Gateway-Provider", "provider");
  return model?.includes(", ") ? refuseRepeated("X-Gateway-Model", "model") : null;
}

function refuseRepeated(header: string, param: string): Failed {
  return refuse(
    "invalid_value",
    `The request has more than one ${header} header; send it once.`,
    param,
  );
}
