/** Returns the text of a configuration file to begin with; `secret` makes a new random key. */
export type Starter = (secret: () => string) => string;
