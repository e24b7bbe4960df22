import manifest from "../../deno.json" with { type: "json" };

/** The version of the gateway, as released. */
export const VERSION: string = manifest.version;

/**
 * The URL (http or https) where a build checks for the newest release; null disables the check. The
 * sources name no URL: it is set when a release is built.
 */
export const RELEASE_ADDRESS: string | null = null;
