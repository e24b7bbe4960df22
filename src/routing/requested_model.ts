import { type Failed, refuse, type Result, success } from "../core/result.ts";
import type { Call } from "../call/call.ts";

/** What a caller asks for. */
export interface RequestedModel {
  /** Provider ID; null leaves it to the route. */
  readonly provider: string | null;
  /** Bare model; null leaves it to the route. */
  readonly model: string | null;
  /** The bare model as it is written, also when it is empty or "auto": routes are matched by it. */
  readonly asked: string;
}

/**
 * Provider and model of a request: the headers win over the body. A model is canonical when the text
 * before its first slash is a configured provider; otherwise the slash is part of the name.
 */
export function parseRequestedModel(
  call: Pick<Call, "controls" | "generation">,
  bodyModel: string,
): Result<RequestedModel> {
  const repeated = repeatedHeader(call.controls);
  if (repeated !== null) return repeated;
  const written = call.controls.model ?? bodyModel;
  const slash = written.indexOf("/");
  const prefix = slash < 0 ? "" : written.slice(0, slash);
  const isCanonical = call.generation.providers.has(prefix);
  const asked = isCanonical ? written.slice(slash + 1) : written;
  const { provider } = call.controls;
  if (isCanonical && provider !== null && provider !== prefix) {
    return refuse(
      "invalid_value",
      "The X-Gateway-Provider header and the model name different providers; keep one of them.",
      "model",
    );
  }
  return success({
    provider: provider ?? (isCanonical ? prefix : null),
    model: asked === "" || asked === "auto" ? null : asked,
    asked,
  });
}

/** A header that is sent twice arrives as one text with a comma; no ID and no model has one in it. */
function repeatedHeader({ provider, model }: Call["controls"]): Failed | null {
  if (provider?.includes(",")) return givenTwice("X-Gateway-Provider", "provider");
  return model?.includes(", ") ? givenTwice("X-Gateway-Model", "model") : null;
}

function givenTwice(header: string, param: string): Failed {
  return refuse(
    "invalid_value",
    `The ${header} header is given more than once; send it once.`,
    param,
  );
}
