import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";

/**
 * True if a request demands JSON as the text of its answer, by the members that the APIs with a
 * typed format have for it: Chat Completions, Responses and Messages.
 */
export function demandsJson(request: JsonObject): boolean {
  const { response_format, text, output_config, output_format } = request;
  return [
    response_format,
    isObject(text) ? text.format : undefined,
    isObject(output_config) ? output_config.format : undefined,
    output_format,
  ].some(isJsonFormat);
}

function isJsonFormat(format: JsonValue | undefined): boolean {
  return isObject(format) && (format.type === "json_schema" || format.type === "json_object");
}
