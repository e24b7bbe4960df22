import { Ajv2020 } from "ajv/dist/2020.js";
import { isObject, parseJson } from "../../src/core/json/json.ts";
import { assert } from "./assert.ts";

const FILE = new URL("../golden/openai-schemas.json", import.meta.url);
const AJV = new Ajv2020({ strict: false });
const BUNDLE = parseJson(Deno.readTextFileSync(FILE));
if (isObject(BUNDLE)) AJV.addSchema(BUNDLE, "bundle");

/** Fails unless the value has the shape of this definition of the OpenAI-style wire. */
export function assertValid(definition: string, value: unknown): void {
  const validate = AJV.getSchema(`bundle#/$defs/${definition}`);
  assert(validate !== undefined, `There is no definition ${definition}.`);
  assert(validate(value), `${definition}: ${AJV.errorsText(validate.errors)}`);
}
