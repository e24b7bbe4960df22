import type { KeyRefusal } from "../core/failure/failure.ts";
import type { JsonObject } from "../core/json/json.ts";

/**
 * Returns the refusal of the key that a response means; null for a status that does not concern the
 * key. `model` is that of the request, or an empty text.
 */
export function keyRefusal(
  status: number,
  error: JsonObject = {},
  model = "",
): KeyRefusal | null {
  const code = typeof error.code === "string" ? error.code : null;
  switch (status) {
    case 429:
      return { kind: "throttled", status, code };
    case 401: {
      const isCertain = saysKeyIsWrong(error) && !isAboutRequest(error, model);
      return { kind: "rejected", status, code, ...isCertain && { isCertain } };
    }
    case 402:
      return { kind: "rejected", status, code };
    case 403:
      return {
        kind: "rejected",
        status,
        code,
        ...model !== "" && isAboutRequest(error, model) && { model },
      };
    default:
      return null;
  }
}

/**
 * True if an error says that the key itself is wrong. One that lacks a scope, or may not do
 * something, is refused for some requests only, and an error that says neither may be of the
 * request as well.
 */
function saysKeyIsWrong({ code, message }: JsonObject): boolean {
  const text = [code, message].filter((one) => typeof one === "string").join(" ");
  return /key|credential|authenticat|\btoken\b/i.test(text) &&
    !/scope|permission|access|allow/i.test(text);
}

/** True if an error names a parameter or the model of the request. */
function isAboutRequest(error: JsonObject, model: string): boolean {
  const { param, code, type } = error;
  return (typeof param === "string" && param !== "") ||
    [code, type].some((name) => typeof name === "string" && name.includes("model")) ||
    (model !== "" && textOf(error).includes(model));
}

function textOf({ message }: JsonObject): string {
  return typeof message === "string" ? message : "";
}
