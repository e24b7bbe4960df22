/**
 * Where a build asks for the newest release, an absolute http or https URL; null: nowhere. Only who
 * builds a release knows an address, so the sources name none.
 */
export const RELEASE_ADDRESS: string | null = null;
