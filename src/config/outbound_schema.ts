import { z } from "zod";
import { decimal, duration, flag, section } from "./fields.ts";
import { addressProblem } from "./provider_schema.ts";
import { secretValue } from "./security_schema.ts";

/** An address that the gateway calls by itself; a blank text is none. */
const ownAddress = z.string().superRefine((written, context) => {
  if (written.trim() === "") return;
  const problem = addressProblem(written) ?? userProblem(written);
  if (problem !== null) context.addIssue({ code: "custom", message: problem });
});

/** Credentials in an address would get into places where nobody expects them. */
function userProblem(written: string): string | null {
  const url = URL.parse(written);
  return url?.username === "" && url.password === ""
    ? null
    : "must not hold a user name or a password";
}

/** Who the gateway is to its dashboard. */
export const generalSchema = section({
  api_key: secretValue.optional()
    .describe("The key by which the dashboard knows this gateway, normally ${NAME}."),
  backend_url: ownAddress.optional()
    .describe("The address of the dashboard; none is built in."),
});

/** What the dashboard is told. */
export const dataSharingSchema = section({
  enabled: flag().prefault(false)
    .describe("Whether the dashboard is told anything: figures of calls, without their content."),
  share_prompts: flag().prefault(false)
    .describe("Whether it is also told the bodies of requests."),
  share_responses: flag().prefault(false)
    .describe("Whether it is also told the bodies of answers."),
  remote_control: flag().prefault(false)
    .describe("Whether calls can be made from the dashboard; needs enabled."),
  gateway_lat: decimal(-90, 90).optional()
    .describe("The latitude of the gateway in degrees, for the dashboard."),
  gateway_lon: decimal(-180, 180).optional()
    .describe("Its longitude in degrees."),
});

/** How the gateway learns of a newer release. */
export const updateCheckSchema = section({
  enabled: flag().prefault(true)
    .describe("Whether the gateway asks for the newest version; sends its own and the CPU type."),
  endpoint: ownAddress.optional()
    .describe("Where it asks; unless given the address of the build, and nowhere without one."),
  interval: duration(1).prefault("24h").describe("The time between two questions."),
  timeout: duration(1).prefault("3s").describe("How long an answer is waited for."),
});
