import * as z from "zod";
import { flag, integer, section } from "./fields.ts";
import { secretValue } from "./security_schema.ts";

/** Schema of `admin`: the listener of the admin page. */
export const adminSchema = section({
  enabled: flag().prefault(false)
    .describe("Serve the admin page, read only; nothing is collected for it while it is off."),
  host: z.string().regex(/^[A-Za-z0-9._:-]+$/, { error: "must be an IP address or a host name" })
    .default("127.0.0.1").describe("IP address or host name to listen on."),
  port: integer(0, 65_535).prefault(8081).describe("Port to listen on; 0 selects a free port."),
  password: secretValue.optional().describe(
    "Password of the page, normally ${NAME}; required unless host is a loopback address.",
  ),
});
