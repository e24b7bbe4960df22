import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../../prompt/carry.ts";
import type { Given } from "../../prompt/prompt.ts";
import { standardBase64 } from "../standard_base64.ts";

/**
 * Returns the base64 data of an image URL. The runtime accepts only base64; neither the runtime nor
 * the gateway fetches an image.
 */
export function parseBase64({ value: url, at }: Given<string>, carrier: Carrier): Result<string> {
  const comma = url.indexOf(",");
  const header = url.slice(0, Math.max(comma, 0)).toLowerCase();
  if (!header.startsWith("data:") || !header.endsWith(";base64")) {
    return carrier.refuse(at, "Send the image as a data: URL in base64.");
  }
  const data = standardBase64(url.slice(comma + 1));
  return data === null ? carrier.refuseValue(at.path, "must hold base64 data") : success(data);
}
