export { malformed, providerError } from "../compat_errors.ts";
