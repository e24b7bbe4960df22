// A module that is loaded later as a whole: the bundler gives the names of a CommonJS package only
// to static imports.
export { AbstractConnector, Cluster, Redis } from "iovalkey";
