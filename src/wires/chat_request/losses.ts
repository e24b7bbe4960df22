/**
 * Maximum number of recorded paths. It is more than a response header can name, so that a request
 * with many lossy fields does not need more memory.
 */
const MAX_LOSSY_PATHS = 512;

/** Fields of one request that the upstream receives only in part. */
export interface Losses {
  /** Records the path of such a field; paths beyond the maximum are not recorded. */
  add(path: string): void;
  /** Returns `lossy` of the encoded request; an empty object if nothing is lost. */
  member(): { readonly lossy?: readonly string[] };
}

/** Returns the record of the lossy fields of one request. */
export function newLosses(): Losses {
  const paths: string[] = [];
  return {
    add(path) {
      if (paths.length < MAX_LOSSY_PATHS) paths.push(path);
    },
    member: () => paths.length === 0 ? {} : { lossy: paths },
  };
}
