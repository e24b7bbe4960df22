/** True if the pattern matches a model. */
export type ModelPattern = (model: string) => boolean;
