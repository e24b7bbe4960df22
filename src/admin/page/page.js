// @ts-check
/// <reference lib="dom" />
