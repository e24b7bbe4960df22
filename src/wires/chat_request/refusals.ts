export * from "../../prompt/refusals.ts";
