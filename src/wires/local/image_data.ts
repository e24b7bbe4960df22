import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../../prompt/carry.ts";
import type { Given } from "../../prompt/prompt.ts";

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
  const data = url.slice(comma + 1).replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/");
  const end = data.endsWith("==") ? -2 : data.endsWith("=") ? -1 : data.length;
  const digits = data.slice(0, end);
  // The pattern searches for one foreign character: a pattern that matches the whole text would
  // need a stack as long as the image.
  if (digits === "" || digits.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(digits)) {
    return carrier.refuseValue(at.path, "must hold base64 data");
  }
  return success(digits + "=".repeat((4 - digits.length % 4) % 4));
}
