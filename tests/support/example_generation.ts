import type { Generation } from "../../src/call/generation.ts";
import { compile } from "../../src/gateway/compile.ts";
import { configOf } from "../config/parse.ts";

/**
 * Returns a generation with these routes over providers without models, with a default model and
 * with a list.
 */
export function generationOf(routes: string): Generation {
  return compile(
    configOf(`
providers:
  openai: {api_key: k}
  mine: {type: compat, base_url: "http://x/v1", default_model: small}
  listed: {type: compat, base_url: "http://x/v1", models: {mode: static, static: [first]}}
routing:
  routes: [${routes}]
`),
    1,
  );
}
