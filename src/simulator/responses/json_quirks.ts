import type { JsonObject } from "../../core/json/json.ts";
import { errorResponse, type SimCall, wholeResponse } from "../sim_call.ts";
import type { Quirk } from "../quirks.ts";
import { type ModelOutput, newApiError } from "../protocol.ts";

type ReplaceResponse = (resource: JsonObject, call: SimCall) => Response;

/** The native quirks of a response without a stream. */
const REPLACEMENTS: ReadonlyMap<Quirk["name"] | undefined, ReplaceResponse> = new Map<
  Quirk["name"],
  ReplaceResponse
>([
  ["no-id", ({ id: _id, ...rest }) => Response.json(rest)],
  ["padded-id", (resource) => Response.json({ ...resource, id: ` ${resource.id}` })],
  ["empty-id", (resource) => Response.json({ ...resource, id: "" })],
  ["no-response", (resource) => Response.json({ ...resource, object: "list" })],
  ["not-json", (resource, call) => wholeResponse(resource, "json", call)],
  ["not-object", (resource) => Response.json([resource])],
  ["status-202", (resource) => Response.json(resource, { status: 202 })],
  [
    "status-503",
    (_resource, call) => errorResponse(newApiError("Simulated failure.", { status: 503 }), call),
  ],
]);

/** Returns a whole JSON response with the quirk or defect of its output. */
export function wholeResponseWithQuirk(
  resource: JsonObject,
  output: ModelOutput,
  call: SimCall,
): Response {
  const { quirk, defect } = output;
  const replace = quirk?.kind === "native" ? REPLACEMENTS.get(quirk.name) : undefined;
  return replace?.(resource, call) ?? wholeResponse(resource, defect, call);
}

/** Returns the status of a stream: 200, except for two quirks. */
export function streamStatus({ quirk }: ModelOutput): number {
  if (quirk?.name === "status-202") return 202;
  return quirk?.name === "status-503" ? 503 : 200;
}
