/** Maximum number of end users of all keys whose limits a process counts. */
export const MAX_END_USERS = 100_000;
