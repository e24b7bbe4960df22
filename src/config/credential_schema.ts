import * as z from "zod";
import { isLoopbackName } from "../core/authority.ts";
import { addressProblem } from "./address.ts";
import { duration, headerName, headerValue, section, text } from "./fields.ts";

/** Values of `providers.*.credential.type`. */
export const CREDENTIAL_TYPES = ["file", "entra", "google", "aws"] as const;

/** Values of `providers.*.credential.source`. */
const SOURCES = ["managed", "metadata", "web_identity", "imds", "container"] as const;

/** Returns the schema of a name that becomes a part of an address. */
function namePart() {
  return z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, {
    error: "must be letters, digits, dots, underscores and hyphens",
  });
}

/** Returns the schema of a credential in one line. */
function secretLine() {
  return z.string().regex(/^[\x21-\x7e]+$/, {
    error: "must be printable ASCII characters without blanks",
  });
}

/** Schema of `providers.*.credential`: its rules are in `credential_rules.ts`. */
export const credentialSchema = section({
  type: z.enum(CREDENTIAL_TYPES)
    .describe(
      "file: a token that another program writes; entra: Microsoft Entra ID; google: Google Cloud; " +
        "aws: requests are signed (SigV4).",
    ),
  header: headerName().optional()
    .describe("Header that carries the token; default Authorization. Not for type aws."),
  prefix: headerValue().optional()
    .describe("Word before the token; default Bearer, empty for none. Not for type aws."),
  refresh_before: duration(1_000).optional()
    .describe(
      "Time before its end at which a credential is replaced; by default a fifth of its time, at least 5m. " +
        "Not for type file and for keys of aws in the file.",
    ),
  path: text().optional()
    .describe(
      "File with the token, looked at every 10s (type file). Relative to the configuration file.",
    ),
  field: text().optional()
    .describe(
      "Member of the JSON object in the file that is the token; by default the whole file is (type file).",
    ),
  expires_field: text().optional()
    .describe(
      "Member with the end of the token, in seconds since 1970 or as a date with time; requires field (type file).",
    ),
  tenant: namePart().optional()
    .describe("Directory (tenant) ID (type entra)."),
  client_id: namePart().optional()
    .describe(
      "Application (client) ID; with source: managed that of a user-assigned identity (type entra).",
    ),
  client_secret: secretLine().optional()
    .describe("Client secret, normally ${NAME} (type entra)."),
  authority: z.string().superRefine((written, context) => {
    const { protocol, hostname } = URL.parse(written) ?? {};
    const problem = addressProblem(written) ??
      (protocol === "http:" && !isLoopbackName(hostname ?? "")
        ? "must begin with https://, because the proof of identity is sent to it"
        : null);
    if (problem !== null) context.addIssue({ code: "custom", message: problem });
  }).optional()
    .describe("Address of the directory; default https://login.microsoftonline.com (type entra)."),
  token_file: text().optional()
    .describe(
      "File with the token of a workload identity, read at each refresh (types entra and aws).",
    ),
  scope: secretLine().optional()
    .describe(
      "Scope of the token; default https://cognitiveservices.azure.com/.default (type entra), " +
        "https://www.googleapis.com/auth/cloud-platform (type google).",
    ),
  key_file: text().optional()
    .describe("Key of a service account, a JSON file (type google)."),
  region: namePart().optional().describe("Region of the service (type aws)."),
  service: namePart().optional()
    .describe("Name of the service in signatures: bedrock or bedrock-mantle (type aws)."),
  access_key_id: namePart().optional().describe("Access key ID (type aws)."),
  secret_access_key: secretLine().optional()
    .describe("Secret access key, normally ${NAME} (type aws)."),
  session_token: secretLine().optional()
    .describe("Session token of temporary keys, normally ${NAME} (type aws)."),
  role_arn: secretLine().optional()
    .describe("Role that source: web_identity assumes (type aws)."),
  source: z.enum(SOURCES).optional()
    .describe(
      "managed: managed identity of an Azure machine (type entra); metadata: service account of a Google machine " +
        "(type google); web_identity: a role by the token in token_file, imds: the role of an EC2 instance, container: " +
        "that of an ECS task or EKS pod (type aws).",
    ),
});
