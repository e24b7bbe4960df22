import * as z from "zod";
import { decimal, duration, flag, section } from "./fields.ts";
import { addressProblem } from "./address.ts";
import { secretValue } from "./security_schema.ts";

/** Address of a service that the gateway calls without a client request; blank text means none. */
const ownAddress = z.string().superRefine((written, context) => {
  if (written.trim() === "") return;
  const problem = addressProblem(written) ?? userProblem(written);
  if (problem !== null) context.addIssue({ code: "custom", message: problem });
});

/**
 * Returns the problem of an address with credentials, which could appear in logs; null if it has
 * none.
 */
function userProblem(written: string): string | null {
  const url = URL.parse(written);
  return url?.username === "" && url.password === ""
    ? null
    : "must not contain a user name or a password";
}

/** Schema of `general`: identity of the gateway at the dashboard. */
export const generalSchema = section({
  api_key: secretValue.optional()
    .describe("Key of this gateway at the dashboard, normally ${NAME}."),
  backend_url: ownAddress.optional()
    .describe("Address of the dashboard; none is built in."),
});

/** Schema of `data_sharing`: export to the dashboard. */
export const dataSharingSchema = section({
  enabled: flag().prefault(false)
    .describe("Export figures of each call to the dashboard, without its content."),
  share_prompts: flag().prefault(false)
    .describe("Export request bodies too."),
  share_responses: flag().prefault(false)
    .describe("Export response bodies too."),
  remote_control: flag().prefault(false)
    .describe("Accept requests from the dashboard over an outgoing WebSocket; needs enabled."),
  gateway_lat: decimal(-90, 90).optional()
    .describe("Latitude of the gateway in degrees, exported as a tag."),
  gateway_lon: decimal(-180, 180).optional()
    .describe("Longitude of the gateway in degrees, exported as a tag."),
});

/** Schema of `update_check`: the release check. */
export const updateCheckSchema = section({
  enabled: flag().prefault(true)
    .describe("Check for a newer release; sends the version and the CPU architecture."),
  endpoint: ownAddress.optional()
    .describe("Address of the release check; default: the one of the build, if it has one."),
  interval: duration(1).prefault("24h").describe("Time between two release checks."),
  timeout: duration(1).prefault("3s").describe("Time limit of one release check."),
});
