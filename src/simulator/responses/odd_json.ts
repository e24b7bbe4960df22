import type { JsonObject } from "../../core/json.ts";
import { refusal, type Scene, whole } from "../chat.ts";
import type { Quirk } from "../quirks.ts";
import { complain, type Script } from "../voice.ts";

type Spoil = (resource: JsonObject, scene: Scene) => Response;

/** The quirks that show in an answer that is no stream. */
const SPOILS: ReadonlyMap<Quirk["name"] | undefined, Spoil> = new Map<Quirk["name"], Spoil>([
  ["no-id", ({ id: _id, ...rest }) => Response.json(rest)],
  ["padded-id", (resource) => Response.json({ ...resource, id: ` ${resource.id}` })],
  ["empty-id", (resource) => Response.json({ ...resource, id: "" })],
  ["no-response", (resource) => Response.json({ ...resource, object: "list" })],
  ["not-json", (resource, scene) => whole(resource, "json", scene)],
  ["not-object", (resource) => Response.json([resource])],
  ["status-202", (resource) => Response.json(resource, { status: 202 })],
  [
    "status-503",
    (_resource, scene) => refusal(complain("Simulated failure.", { status: 503 }), scene),
  ],
]);

/** A whole answer, with the quirk or the defect of its script. */
export function wholeAnswer(resource: JsonObject, script: Script, scene: Scene): Response {
  const { quirk, defect } = script;
  const spoil = quirk?.of === "native" ? SPOILS.get(quirk.name) : undefined;
  return spoil?.(resource, scene) ?? whole(resource, defect, scene);
}

/** The status of a stream; only two quirks have another one than 200. */
export function streamStatus({ quirk }: Script): number {
  if (quirk?.name === "status-202") return 202;
  return quirk?.name === "status-503" ? 503 : 200;
}
