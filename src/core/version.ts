import manifest from "../../deno.json" with { type: "json" };

/** The version of the gateway, as released. */
export const VERSION: string = manifest.version;
