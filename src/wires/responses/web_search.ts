import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import {
  missing,
  type Optional,
  undeclared,
  unknownMember,
  unsupported,
  wrongType,
} from "../chat_request/refusals.ts";
import type { SectionInput } from "./controls.ts";

import { FIELDS } from "./fields.ts";

const PATH = "web_search_options";

const LOCATION = FIELDS.members("web_search_options.user_location[approximate]");

const APPROXIMATE = FIELDS.members("web_search_options.user_location[approximate].approximate");

/** Returns the hosted tool for `web_search_options`, if the provider declares it; an empty list if absent. */
export function webSearchTools({ body, provider }: SectionInput): Result<readonly JsonObject[]> {
  const options = body.web_search_options ?? null;
  if (options === null) return success([]);
  if (!provider.settings.capabilities.hosted_tools.includes("web_search")) {
    return undeclared(PATH, provider, "hosted_tools");
  }
  if (!isObject(options)) return wrongType(PATH, "an object");
  const unknown = unknownMember(options, FIELDS.members("web_search_options"), PATH);
  if (unknown !== null) return unknown;
  const size = options.search_context_size ?? null;
  if (size !== null && typeof size !== "string") {
    return wrongType(`${PATH}.search_context_size`, "a string");
  }
  const location = encodeLocation(options.user_location, `${PATH}.user_location`);
  if (!location.ok) return location;
  return success([{
    type: "web_search",
    ...size !== null && { search_context_size: size },
    ...location.value !== null && { user_location: location.value },
  }]);
}

/** Returns the location without the nested object of Chat. */
function encodeLocation(location: Optional, path: string): Result<JsonObject | null> {
  if ((location ?? null) === null) return success(null);
  if (!isObject(location)) return wrongType(path, "an object");
  if (location.type !== "approximate") return unsupported(`${path}.type`);
  const unknown = unknownMember(location, LOCATION, path);
  if (unknown !== null) return unknown;
  const { approximate } = location;
  const at = `${path}.approximate`;
  if ((approximate ?? null) === null) return missing(at);
  if (!isObject(approximate)) return wrongType(at, "an object");
  const other = unknownMember(approximate, APPROXIMATE, at);
  return other ?? success({ type: "approximate", ...approximate });
}
