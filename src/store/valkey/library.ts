import { AbstractConnector, Cluster, Redis } from "iovalkey";

// The library ends a connection to a sentinel with its default alone, no option is passed on: 2 s,
// in which a timer outlives the client unless the sentinel closes its side first.
Object.assign(Reflect.get(Redis, "defaultOptions"), { disconnectTimeout: 0 });

// A module that is loaded later as a whole: the bundler gives the names of a CommonJS package only
// to static imports.
export { AbstractConnector, Cluster, Redis };
